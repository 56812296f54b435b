/** What git's configuration and the user's programs name in a workspace is known to whoever writes there outside of the sandbox. */
import { execFileSync } from "node:child_process"
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerSandbox, Sandbox } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, environmentOf } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const named = [".gitconfig", ".husky", "tools/filter", "not-yet/gitattributes", "dots/zshrc"]

const naming = Effect.tap(scene, (here) =>
  Effect.sync(() => {
    const { home, workspace } = here
    const git = (...words: ReadonlyArray<string>) => execFileSync("git", words, { cwd: workspace })
    mkdirSync(join(workspace, ".husky", "_"), { recursive: true })
    mkdirSync(join(workspace, "dots"))
    mkdirSync(join(workspace, "tools"), { recursive: true })
    for (const path of [".gitconfig", ".husky/pre-commit", "tools/filter"]) writeFileSync(join(workspace, path), "")
    symlinkSync(join(workspace, "dots", "zshrc"), join(home, ".zshrc"))
    git("config", "--replace-all", "include.path", "../.gitconfig")
    git("config", "--replace-all", "core.hooksPath", ".husky/_")
    git("config", "--replace-all", "filter.x.clean", "./tools/filter --quietly")
    git("config", "--replace-all", "core.attributesFile", "not-yet/gitattributes")
  })
)

const missingIn = ({ workspace }: Scene, told: ReadonlyArray<string>) =>
  named.filter((path) => !told.includes(join(realpathSync(workspace), path)))

describe("files and folders that an agent's file tools ask about", () => {
  it.live("are known where no sandbox is used", () =>
    Effect.gen(function* () {
      const here = yield* naming
      const { stateDirectory, workspace } = here
      const settings = { write: [], read: [], deny: [], network: [] }
      const environment = environmentOf(here)
      const told = yield* Sandbox.use(({ protectedPaths }) => protectedPaths(workspace)).pipe(
        Effect.provide(layerSandbox({ mode: "off", gates: true, settings, stateDirectory, environment }))
      )
      assert.deepStrictEqual(missingIn(here, told), [])
      assert.notInclude(told, realpathSync(workspace))
    })
  )

  it.live("are all told as unknown where git does not say what it obeys", () =>
    Effect.gen(function* () {
      const here = yield* naming
      writeFileSync(join(here.workspace, ".gitconfig"), "[core\n")
      const settings = { write: [], read: [], deny: [], network: [] }
      const { stateDirectory, workspace } = here
      const told = Sandbox.use(({ protectedPaths }) => protectedPaths(workspace)).pipe(
        Effect.provide(
          layerSandbox({ mode: "off", gates: true, settings, stateDirectory, environment: environmentOf(here) })
        )
      )
      assert.strictEqual((yield* Effect.flip(told))._tag, "SandboxFault")
    })
  )

  it.live.skipIf(!sandboxed)("are those of the policy of a turn's commands, which is not made again", () =>
    Effect.gen(function* () {
      const here = yield* naming
      yield* during(here, ({ protectedPaths, shellFor }) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(missingIn(here, yield* protectedPaths(here.workspace)), [])
          yield* shellFor(here.workspace, "author")
          // No git could say anything any more.
          writeFileSync(join(here.workspace, ".git", "config"), "[core\n")
          assert.deepStrictEqual(missingIn(here, yield* protectedPaths(here.workspace)), [])
        })
      )
    })
  )
})
