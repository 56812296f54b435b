import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { parsePlan } from "@reprise/plan"
import { Effect, Result } from "effect"
import { detectQualityGates } from "../src/flows/repository/init.ts"
import { samplePlan } from "../src/flows/repository/samplePlan.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const repository = scratchRepository()
const scripts = { lint: "x", test: "x" }

describe("the quality gates that init finds", () => {
  it.each([
    ["npm without a lock file", { scripts }, [], ["npm run lint", "npm test"]],
    ["pnpm by its lock file", { scripts }, ["pnpm-lock.yaml"], ["pnpm run lint", "pnpm test"]],
    ["yarn by its lock file", { scripts }, ["yarn.lock"], ["yarn run lint", "yarn test"]],
    ["the scripts, not the own test runner, of bun", { scripts }, ["bun.lock"], ["bun run lint", "bun run test"]],
    [
      "what the manifest names before a lock file",
      { scripts, packageManager: "pnpm@10.1.0" },
      ["package-lock.json"],
      ["pnpm run lint", "pnpm test"]
    ],
    ["verify alone where it is", { scripts: { ...scripts, verify: "x" } }, [], ["npm run verify"]],
    ["another kind of project without scripts", { name: "x" }, ["Cargo.toml"], ["cargo test"]],
    ["nothing in a manifest that is none", "x", [], []]
  ])("are those of %s", async (_, manifest, files, gates) => {
    repository.write("package.json", JSON.stringify(manifest))
    for (const file of files) repository.write(file, "")
    assert.deepStrictEqual(await Effect.runPromise(detectQualityGates(repository.project.root)), gates)
  })
})

const bin = fileURLToPath(new URL("../bin/reprise.js", import.meta.url))
const init = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [bin, "init", ...args], { cwd: repository.project.root, encoding: "utf8" })

describe("the plan of init", () => {
  it.each([undefined, "npm test"])("is a plan that Reprise reads, with the gate %s", (gate) => {
    const plan = Result.getOrThrow(parsePlan(samplePlan(gate)))
    assert.deepStrictEqual(
      plan.phases.map(({ tasks, title }) => [title, tasks.length]),
      [
        ["Prepare", 2],
        ["Build", 2]
      ]
    )
  })

  it("is written beside the settings, alone where these are there, and never over a plan", () => {
    assert.include(init("--plan").stderr, "PLAN.md, a sample plan of two phases")
    assert.deepStrictEqual(
      readdirSync(repository.project.root)
        .filter((name) => !name.startsWith("."))
        .sort(),
      ["PLAN.md", "reprise.toml"]
    )
    const again = init("--plan")
    assert.deepStrictEqual([again.status, /PLAN\.md exists already/.test(again.stderr)], [2, true])
    rmSync(join(repository.project.root, "PLAN.md"))
    assert.deepStrictEqual(JSON.parse(init("--plan", "--json").stdout), {
      ok: true,
      data: { plan: join(repository.project.root, "PLAN.md") }
    })
  })
})

describe("a folder whose name a terminal would obey", () => {
  const bytes = (name: string) => Buffer.from(join(repository.folder, name), "latin1")
  const inFolder = (name: string, ...args: ReadonlyArray<string>) => {
    mkdirSync(bytes(name))
    const enter = `cd -- "$(printf '%b' '${name.replace(/[^a-z;\]]/g, (char) => `\\0${char.charCodeAt(0).toString(8)}`)}')"`
    const program = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(" ")
    return spawnSync("/bin/sh", ["-c", `${enter} && git init -q && ${program}`], {
      cwd: repository.folder,
      encoding: "utf8"
    })
  }

  it("is shown in letters where init wrote its files", () => {
    const { stderr } = inFolder("r\x1b]pwn\x07x", "init")
    assert.include(stderr, "r\\x1b]pwn\\x07x/reprise.toml")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
    assert.notMatch(stderr, /\x07|\x1b\]/)
  })

  it("is said to be no text where it is none, and not that git is missing", () => {
    const { status, stderr } = inFolder("r\xff", "init")
    assert.strictEqual(status, 3)
    assert.match(stderr, /is not there, or its name is not text in UTF-8/)
  })

  it("does not break the line on which a plan is named", () => {
    writeFileSync(join(repository.project.root, "a\nreprise: ok.md"), "no plan")
    const { stderr } = spawnSync(process.execPath, [bin, "validate", "a\nreprise: ok.md"], {
      cwd: repository.project.root,
      encoding: "utf8"
    })
    assert.include(stderr, "a\\nreprise: ok.md is not a valid plan")
    assert.notMatch(stderr, /^reprise: ok/m)
  })
})
