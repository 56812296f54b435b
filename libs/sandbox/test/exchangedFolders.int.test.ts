/** Links that a command puts in the place of folders on the way to where commands may write or read. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { SandboxSettings, SandboxShape } from "../src/index.ts"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, run, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

/** In one turn of an author's. */
const occupied = (here: Scene, sandbox: SandboxShape) =>
  sandbox.occupy({ directory: here.workspace, role: "author", permissions: "workspace" })

/** What each command of a turn of its own says; or the reason why none ran. */
const inTurns = (here: Scene, settings: Partial<SandboxSettings>, commands: ReadonlyArray<string>) =>
  during(
    here,
    (sandbox) =>
      Effect.forEach(commands, (command) =>
        Effect.andThen(occupied(here, sandbox), runIn(here, sandbox, command)).pipe(
          Effect.scoped,
          Effect.catch(({ message }) => Effect.succeed(message))
        )
      ),
    undefined,
    settings
  )

const key = ({ home }: Scene) => `cat ${home}/.ssh/id_ed25519`
const toKeys = ({ home }: Scene) => `${home}/.ssh`

describe.skipIf(!sandboxed)("a command finds no way", () => {
  it.live("to the home folder by a place that a human allowed, and that lies in another one", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const data = join(here.home, "data")
      mkdirSync(join(data, "a", "b"), { recursive: true })
      mkdirSync(join(here.home, ".config", "autostart"))
      const said = yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* occupied(here, sandbox)
          const program = yield* sandbox.shellFor(here.workspace, "author")
          yield* sandbox.open(here.workspace, join(data, "a", "b"))
          yield* sandbox.open(here.workspace, data)
          const swap = `cd ${data} && { mv a out-a; mkdir -p a; rm -rf a/b; ln -s ../../.config a/b; }`
          yield* run(here, program, swap)
          yield* run(here, program, `echo ${canary} > ${here.home}/.config/autostart/x; echo written > ${data}/file`)
          yield* run(here, program, `cd ${data}; rm a/b; ln -s ${toKeys(here)} a/b`)
          return yield* run(here, program, key(here))
        }).pipe(Effect.scoped)
      )
      assert.isFalse(existsSync(join(here.home, ".config", "autostart", "x")))
      assert.strictEqual(readFileSync(join(data, "file"), "utf8"), "written\n", "what was allowed is")
      assert.notInclude(said, canary)
    })
  )

  it.live("to keys by a folder of the workspace that sandbox.read names", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.workspace, "vendor", "x"), { recursive: true })
      const swap = `mv vendor out-v; mkdir -p vendor; ln -s ${toKeys(here)} vendor/x`
      const said = yield* inTurns(here, { read: ["vendor/x"] }, [`${swap}; true`, `${key(here)} vendor/x/id_ed25519`])
      assert.notInclude(said.join("\n"), canary)
    })
  )

  it.live("to the home folder by a folder of the workspace that sandbox.write names", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.workspace, "vendor", "x"), { recursive: true })
      const swap = `mv vendor out-v; mkdir -p vendor; rm -rf vendor/x; ln -s ${here.home}/.config vendor/x`
      yield* inTurns(here, { write: ["vendor/x"] }, [swap, `echo ${canary} > vendor/x/escaped`])
      assert.isFalse(existsSync(join(here.home, ".config", "escaped")))
    })
  )

  it.live("to the home folder by one place of sandbox.write in another: no command runs, and the link is named", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const [data, inner] = [join(here.home, "data"), join(here.home, "data", "a", "b")]
      mkdirSync(inner, { recursive: true })
      const [, said = ""] = yield* inTurns(here, { write: [data, inner] }, [
        `cd ${data} && mv a out-a && mkdir a && ln -s ../../.config a/b`,
        `echo ${canary} > ${here.home}/.config/x`
      ])
      assert.include(said, `sandbox.write names ${inner}, which is a link in a folder that commands can write`)
      assert.isFalse(existsSync(join(here.home, ".config", "x")))
    })
  )

  it.live("to what sandbox.deny names by a link of the user's in the workspace, once the link is gone", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const secret = join(here.home, "secret")
      writeFileSync(secret, `${canary}\n`)
      symlinkSync(secret, join(here.workspace, "settings", "secret"))
      const said = yield* inTurns(here, { deny: ["settings/secret"] }, [
        "rm settings/secret; mv settings out-settings",
        `cat ${secret}`,
        `cat ${secret}`
      ])
      assert.notInclude(said.join("\n"), canary)
    })
  )

  it.live("to a key by a file that the agent itself reads in a folder that it writes", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const own = join(here.home, ".agent")
      mkdirSync(own)
      symlinkSync(join(here.home, ".ssh", "id_ed25519"), join(own, "login"))
      const agent = {
        name: "acp:agent",
        directory: here.workspace,
        role: "author" as const,
        own: { write: [own], read: [join(own, "login")], kept: [], apart: [], network: [] },
        variables: []
      }
      const said = yield* during(here, ({ agentProgram }) =>
        agentProgram === undefined
          ? Effect.die("bubblewrap is needed")
          : Effect.flatMap(agentProgram(agent), (program) =>
              run(here, "/bin/sh", `${program} cat ${own}/login; ${program} echo it runs`)
            )
      )
      assert.notInclude(said, canary)
      assert.include(said, "it runs")
    })
  )
})
