/** Commands put no program where the user, or Reprise, finds programs by their names. */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerSandbox, Sandbox } from "../src/index.ts"
import { canSandbox, scene } from "../src/testing/index.ts"
import { environmentOf, quietly, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const furnished = Effect.tap(scene, ({ home }) =>
  Effect.sync(() => {
    for (const folder of ["go/bin", "go/sdk/bin", "go/tools/one", "own/bin", ".local/bin"]) {
      mkdirSync(join(home, folder), { recursive: true })
    }
    writeFileSync(join(home, "go/tools/one/tool"), "theirs\n")
    symlinkSync(join(home, "go/tools/one/tool"), join(home, ".local/bin/tool"))
    symlinkSync("sdk", join(home, "go/current"))
  })
)

const pathOf = (home: string) =>
  [".local/bin", "go/bin", "go/current/bin", "go/missing/bin"].map((folder) => join(home, folder)).join(":")

const used = <A, E>(
  write: ReadonlyArray<string>,
  use: (
    here: Effect.Success<typeof furnished>,
    run: (command: string) => Effect.Effect<string, unknown>
  ) => Effect.Effect<A, E>,
  open?: string
) =>
  Effect.flatMap(furnished, (here) => {
    const more = { PATH: `${pathOf(here.home)}:${process.env["PATH"] ?? ""}` }
    const options = {
      mode: "required" as const,
      gates: true,
      settings: { write, read: [], deny: [], network: [] },
      stateDirectory: here.stateDirectory,
      environment: environmentOf(here, more)
    }
    return Effect.gen(function* () {
      const sandbox = yield* Sandbox
      if (open !== undefined) yield* sandbox.open(here.workspace, join(here.home, open))
      return yield* use(here, (command) => runIn(here, sandbox, command, more))
    }).pipe(Effect.provide(layerSandbox(options)), Effect.scoped, quietly)
  }).pipe(Effect.scoped)

const planting = (folder: string) =>
  `mkdir -p ${folder}; printf '#!/bin/sh\\necho ran >>"$HOME/ran"\\n' >${folder}/find && chmod +x ${folder}/find`

describe.skipIf(!sandboxed)("where commands may write, what programs are", () => {
  it.live("stays as it is in folders of PATH, also behind links", () =>
    used(["~/go"], ({ home }, run) =>
      Effect.gen(function* () {
        const said = yield* run(
          `cd ~/go; echo mine >allowed; ${planting("bin")}; ${planting("sdk/bin")}; mv sdk old && ${planting("sdk/bin")}; rm current; mkdir -p current/bin && cp bin/find current/bin/; echo evil >tools/one/tool; ${planting("missing/bin")}`
        )
        yield* run("true")
        assert.strictEqual(readFileSync(join(home, "go/allowed"), "utf8"), "mine\n", said)
        for (const folder of ["bin", "sdk/bin", "current/bin", "missing/bin"]) {
          assert.isFalse(existsSync(join(home, "go", folder, "find")), `${folder}: ${said}`)
        }
        assert.strictEqual(readFileSync(join(home, "go/tools/one/tool"), "utf8"), "theirs\n")
        assert.isFalse(existsSync(join(home, "ran")))
      })
    )
  )

  it.live("is not run by the sandbox itself, though a person put it there", () =>
    used(["~/go"], ({ home }, run) =>
      Effect.gen(function* () {
        for (const name of ["find", "tee", "grep", "git", "bwrap", "unshare", "rm", "sleep"]) {
          writeFileSync(join(home, "go/bin", name), `#!/bin/sh\necho ${name} >>${home}/ran\n`)
          chmodSync(join(home, "go/bin", name), 0o755)
        }
        yield* run("true")
        assert.isFalse(existsSync(join(home, "ran")))
      })
    )
  )

  it.live("cannot be opened by anybody's answer", () =>
    used(
      [],
      ({ home }, run) =>
        Effect.gen(function* () {
          const said = yield* run(planting("~/go/bin"))
          assert.isFalse(existsSync(join(home, "go/bin/find")), said)
        }),
      "go/bin"
    )
  )
})
