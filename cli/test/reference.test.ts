import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { referenceFile, referencePages, sessionsFile, withSessionMachine } from "../../docs/generate.ts"
import { otherVariables } from "../../docs/render/configuration.ts"
import { environmentName, settingsTable } from "../src/config/settingsTable.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

const sources = [
  "cli/src",
  ...["libs", "services"].flatMap((area) => readdirSync(join(root, area)).map((name) => `${area}/${name}/src`))
]
  .map((folder) => join(root, folder))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)))
  .filter((file) => file.endsWith(".ts") && !file.includes("libs/testing/"))

describe("the reference", () => {
  it.effect("says what the code says; if not, run 'npm run docs'", () =>
    Effect.gen(function* () {
      const pages = yield* referencePages
      for (const [name, text] of pages) {
        assert.strictEqual(
          readFileSync(referenceFile(name), "utf8"),
          text,
          `docs/reference/${name} is stale: run 'npm run docs'`
        )
      }
      assert.deepStrictEqual(readdirSync(join(root, "docs/reference")).sort(), [...pages.keys()].sort())
    })
  )

  it("shows the session machine as it is; if not, run 'npm run docs'", () => {
    const page = readFileSync(sessionsFile, "utf8")
    assert.strictEqual(page, withSessionMachine(page))
    assert.include(page, "[*] --> requested: requested")
  })

  it.effect("has no link to a missing heading", () =>
    Effect.gen(function* () {
      const text = (yield* referencePages).get("messages.md") ?? ""
      const headings = new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading.toLowerCase()))
      for (const [, anchor = ""] of text.matchAll(/\]\(#([^)]*)\)/g)) assert.isTrue(headings.has(anchor), anchor)
    })
  )

  it("names every variable of the environment that the sources read", () => {
    const known = new Set([
      ...settingsTable.map(({ path }) => environmentName(path)),
      ...otherVariables.map(([name]) => name)
    ])
    const reading = /(?:\b(?:env|environment)(?:\.|\[")|\bConfig\.\w+\((?:\w+, )?")(REPRISE_[A-Z_]+)/g
    const read = new Set(
      sources.flatMap((file) => [...readFileSync(file, "utf8").matchAll(reading)].map(([, name = ""]) => name))
    )
    assert.include([...read], "REPRISE_NATS_SERVER")
    assert.deepStrictEqual(
      [...read].filter((name) => !known.has(name)),
      []
    )
  })
})
