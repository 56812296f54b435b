/** Names that a command may not make, and that are there when another command begins. */
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { canary, canSandbox, scene } from "../src/testing/index.ts"
import { during, run, runIn, until } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

describe.skipIf(!sandboxed)("a name that a command may not make", () => {
  it.live("leads no other command to what is hidden, while the one that made it a link goes on", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const head = join(here.workspace, "HEAD")
      const said = yield* during(here, ({ shellFor }) =>
        Effect.gen(function* () {
          const shell = yield* shellFor(here.workspace, "author")
          const first = yield* Effect.forkChild(
            run(here, shell, "ln -s ../home/.ssh HEAD; until [ -e out-read ]; do sleep 0.05; done")
          )
          yield* until(() => lstatSync(head, { throwIfNoEntry: false }) !== undefined)
          const output = yield* run(here, shell, `cat HEAD/id_ed25519 ${here.home}/.ssh/id_ed25519; touch out-read`)
          yield* Fiber.join(first)
          return output
        })
      )
      assert.notInclude(said, canary)
      assert.isUndefined(lstatSync(head, { throwIfNoEntry: false }))
    })
  )

  it.live("is put aside with the link that a command has made of its folder, and nothing that the link leads to", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const settings = join(here.home, ".config", "Code", "User")
      mkdirSync(settings, { recursive: true })
      writeFileSync(join(settings, "settings.json"), "{}")
      yield* during(here, (sandbox) => runIn(here, sandbox, `ln -s ${settings} .vscode`))
      assert.strictEqual(readFileSync(join(settings, "settings.json"), "utf8"), "{}")
      assert.isFalse(existsSync(join(here.workspace, ".vscode")))
    })
  )

  it.live("stays where the user made it before, and a command cannot change it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const place = join(here.workspace, ".mcp.json")
      const before = readFileSync(place, "utf8")
      yield* during(here, (sandbox) => runIn(here, sandbox, "echo x > settings/mcp.json; echo x > opencode.json"))
      assert.strictEqual(readFileSync(place, "utf8"), before)
      assert.strictEqual(readFileSync(join(here.workspace, "opencode.json"), "utf8"), "{}")
    })
  )
})
