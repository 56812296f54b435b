/** Which programs and libraries quality gates find, and what runs them: agents write in the repository's folders. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { leaveTree } from "@reprise/process"
import { layerSandbox } from "@reprise/sandbox"
import { canSandbox, type Scene, scene } from "@reprise/sandbox/testing"
import { Effect } from "effect"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { gates } from "./support/commands.ts"
import { adapters, placeAt } from "./support/repository.ts"

const sandboxed = process.platform === "linux" && (await canSandbox())

/** This process's environment, as Reprise has it when it is started in a folder; until the scope closes. */
const startedIn = (folder: string, variables: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = { ...process.env }
      Object.assign(process.env, variables)
      leaveTree(process.env, folder)
      return before
    }),
    (before) =>
      Effect.sync(() => {
        for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
        Object.assign(process.env, before)
      })
  )

const plant = (path: string, text: string) => {
  mkdirSync(join(path, ".."), { recursive: true })
  writeFileSync(path, text)
  chmodSync(path, 0o700)
}

const runGate = (here: Scene, command: string, mode: "required" | "off") =>
  qualityGates(gates([command]), placeAt(here.workspace)).pipe(
    Effect.provide(
      layerSandbox({
        mode,
        gates: true,
        settings: { write: [], read: [], deny: [], network: [] },
        stateDirectory: here.stateDirectory,
        environment: { ...process.env, HOME: here.home }
      })
    ),
    Effect.map((event) => (event._tag === "QualityPassed" || event._tag === "QualityFailed" ? event.results : []))
  )

const everyProgram = [
  "sh",
  "env",
  "bash",
  "git",
  "cat",
  "tee",
  "readlink",
  "sleep",
  "find",
  "grep",
  "socat",
  "bwrap",
  "unshare"
]

const ways: ReadonlyArray<readonly [string, (workspace: string) => string]> = [
  ["as npx writes it", (workspace) => join(workspace, "node_modules/.bin")],
  ["relative", () => "./node_modules/.bin"]
]

describe.skipIf(!sandboxed)("quality gates in the sandbox, of a repository whose folders are on the PATH", () => {
  layer(adapters, { excludeTestServices: true })((it) => {
    it.effect.each(ways)("run no program of it outside of the sandbox, and find it inside: %s", ([, at]) =>
      Effect.gen(function* () {
        const here = yield* scene
        const bin = join(here.workspace, "node_modules/.bin")
        const ran = join(here.home, "ran")
        for (const name of everyProgram) {
          plant(join(bin, name), `#!/bin/sh\necho ${name} 2>/dev/null >>${ran}\nexec /usr/bin/${name} "$@"\n`)
        }
        plant(join(bin, "tool"), "#!/bin/sh\necho of the tree\n")
        yield* startedIn(here.workspace, { PATH: `${at(here.workspace)}:${process.env["PATH"] ?? ""}` })
        const [result] = yield* runGate(here, "tool; sh -c 'echo found'", "required")
        assert.deepStrictEqual(existsSync(ran) ? readFileSync(ran, "utf8") : "", "")
        assert.include(result?.head, "of the tree\nfound\n")
        assert.strictEqual(result?.exitCode, 0)
      })
    )

    it.effect.each([
      ["in the tree", (workspace: string) => join(workspace, "build/lib")],
      ["wherever one is", () => "/nonexistent:"]
    ] as const)("load no library of it outside of the sandbox, and get the variable inside: %s", ([, at]) =>
      Effect.gen(function* () {
        const here = yield* scene
        const path = at(here.workspace)
        // Of git and bubblewrap. The loader refuses what is not a library, so whatever is started with it fails.
        for (const folder of [here.workspace, join(here.workspace, "build/lib")]) {
          for (const name of ["libz.so.1", "libcap.so.2"]) plant(join(folder, name), "no library")
        }
        yield* startedIn(here.workspace, { LD_LIBRARY_PATH: path })
        const [result] = yield* runGate(here, 'echo "<$LD_LIBRARY_PATH>"', "required")
        assert.isUndefined(process.env["LD_LIBRARY_PATH"])
        assert.include(result?.head, `<${path}>`)
        assert.strictEqual(result?.exitCode, 0)
      })
    )
  })
})

describe("quality gates without a sandbox", () => {
  layer(adapters, { excludeTestServices: true })((it) => {
    it.effect("find programs of the repository, but for the shell that reads the command", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const bin = join(here.workspace, "node_modules/.bin")
        plant(join(bin, "sh"), "#!/bin/false\n")
        plant(join(bin, "tool"), "#!/bin/sh\necho of the tree\n")
        yield* startedIn(here.workspace, { PATH: `${bin}:${process.env["PATH"] ?? ""}` })
        const [result] = yield* runGate(here, "tool", "off")
        assert.include(result?.head, "of the tree\n")
      })
    )
  })
})
