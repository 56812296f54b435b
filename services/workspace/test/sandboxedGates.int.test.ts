// @module-tag long
/** What a quality gate tries to get out of the sandbox with: the table is in `libs/sandbox/src/testing/index.ts`. */
import { execFileSync, spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { layerSandbox } from "@reprise/sandbox"
import { batches, canSandbox, escapedFrom, type Scene, scene } from "@reprise/sandbox/testing"
import { Effect, Fiber, Schedule } from "effect"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { gates } from "./support/commands.ts"
import { adapters, placeAt } from "./support/repository.ts"

const sandboxed = await canSandbox()
/** docs/security.md#caches-of-quality-gates */
const cleaning =
  "git clean -ffdxq -e '/.planning/phases/*/.continuation-state.json' -e '/.planning/phases/*/SUMMARY.md' && git submodule foreach --quiet --recursive git clean -ffdxq"
const hasPython = spawnSync("python3", ["--version"]).status === 0

const runGates = (
  { home, stateDirectory, workspace }: Scene,
  commands: ReadonlyArray<string>,
  directory: string = workspace
) =>
  qualityGates(gates(commands), { ...placeAt(workspace), directory }).pipe(
    Effect.provide(
      layerSandbox({
        mode: "auto",
        gates: true,
        settings: { write: [], read: [], deny: [], network: [] },
        stateDirectory,
        environment: { ...process.env, HOME: home }
      })
    )
  )

describe.skipIf(!sandboxed)("quality gates in the sandbox", () => {
  layer(adapters, { excludeTestServices: true })((it) => {
    it.effect("get out by none of the ways of the table, and say how they ended", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const commands = [...batches(here), "exit 3"]
        const event = yield* runGates(here, commands)
        assert.deepStrictEqual(escapedFrom(here), [])
        if (event._tag !== "QualityFailed") return assert.fail(event._tag)
        assert.strictEqual(event.results.at(-1)?.exitCode, 3)
      })
    )

    it.effect("leave nothing that may not be made when they are ended, before anything else is done", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const places = ["reprise.local.toml", "mise.toml"].map((name) => join(here.workspace, name))
        const isLeft = (path: string) => existsSync(path)
        const command = "echo x > reprise.local.toml; echo x > mise.toml; exec sleep 3600"
        const running = yield* runGates(here, [command]).pipe(Effect.forkScoped({ startImmediately: true }))
        yield* Effect.sync(() => places.every(isLeft)).pipe(
          Effect.repeat({ until: (all) => all, schedule: Schedule.spaced("50 millis") })
        )
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(places.filter(isLeft), [])
      })
    )

    it.effect("are asked about nothing, and what the sandbox refuses to each is in its result", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const curl = "curl -sS -m 20 --noproxy '' http://example.org/"
        const commands = ["true", `${curl}; ${curl}`, `echo x > ${here.home}/data; exit 0`]
        const event = yield* runGates(here, commands)
        if (event._tag !== "QualityPassed") return assert.fail(JSON.stringify(event))
        assert.deepStrictEqual(
          event.results.map(({ refused }) => refused),
          [
            undefined,
            [{ sandbox: "network", text: "network: example.org" }],
            [{ sandbox: "write", text: `write: ${here.home}/data` }]
          ]
        )
      })
    )

    it.effect.skipIf(!hasPython)("run what the source says, and not what an author compiled beside it", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const source = join(here.workspace, "calc.py")
        writeFileSync(source, "raise SystemExit(0)\n")
        const compile =
          "import py_compile; py_compile.compile('calc.py', invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)"
        execFileSync("python3", ["-c", compile], { cwd: here.workspace })
        writeFileSync(source, "raise SystemExit(7)\n")
        const gate = "python3 -c 'import calc'"
        assert.strictEqual(spawnSync("sh", ["-c", gate], { cwd: here.workspace }).status, 0, "outside of a gate")
        const event = yield* runGates(here, [gate])
        if (event._tag !== "QualityFailed") return assert.fail(event._tag)
        assert.strictEqual(event.results[0]?.exitCode, 7)
      })
    )

    it.effect("begin with what is committed alone where they remove the rest, as the documentation says", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const directory = join(here.stateDirectory, "worktrees/r1")
        const git = (...args: ReadonlyArray<string>) =>
          execFileSync("git", ["-c", "protocol.file.allow=always", "-c", "init.templateDir=", ...args], {
            cwd: here.workspace,
            stdio: "pipe"
          })
        const put = (path: string) => {
          mkdirSync(dirname(join(directory, path)), { recursive: true })
          writeFileSync(join(directory, path), "")
        }
        git("worktree", "add", "--quiet", "-b", "run", directory)
        git("-C", directory, "submodule", "--quiet", "add", here.workspace, "library")
        appendFileSync(join(directory, ".gitignore"), "node_modules/\nSUMMARY.md\n.continuation-state.json\n")
        git("-C", directory, "add", "--all")
        git("-C", directory, "commit", "--quiet", "-m", "rules")
        const stay = [".planning/phases/1/SUMMARY.md", ".planning/phases/1/.continuation-state.json"]
        const go = [
          "tools/node_modules/chk/index.js",
          "new/index.js",
          ".reprise/__mocks__/index.js",
          ".planning/node_modules/chk/index.js",
          ".planning/phases/1/node_modules/chk/index.js",
          "library/out-one/index.js",
          "library/.reprise/__mocks__/index.js"
        ]
        for (const path of [...stay, ...go]) put(path)
        const event = yield* runGates(here, [cleaning], directory)
        if (event._tag !== "QualityPassed") return assert.fail(JSON.stringify(event))
        const isThere = (path: string) => existsSync(join(directory, path))
        assert.deepStrictEqual(go.filter(isThere), [])
        assert.deepStrictEqual(stay.filter(isThere), stay)
        assert.isTrue(isThere("library/reprise.toml"))
      })
    )
  })
})
