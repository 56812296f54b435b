/** Commands write nothing where Reprise and OpenCode keep programs and settings, whatever they may write around it. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { layerSandbox, Sandbox, type SandboxSettings } from "../src/index.ts"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { environmentOf, quietly, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

interface Case {
  readonly file: (here: Scene) => string
  readonly write?: ReadonlyArray<string>
  readonly variables?: (here: Scene) => Record<string, string>
  readonly before?: (here: Scene) => void
  readonly opened?: (here: Scene) => string
}

const server = "reprise/nats-server/99.0.0/nats-server"

const cases: Readonly<Record<string, Case>> = {
  "a server in the cache": { file: ({ home }) => join(home, ".cache", server), write: ["~/.cache"] },
  "an agent in the cache, where it is": {
    file: ({ home }) => join(home, ".cache/reprise/agents/opencode-ai@1.0.0/package.json"),
    write: ["~/.cache"],
    before: ({ home }) => mkdirSync(join(home, ".cache/reprise/agents/opencode-ai@1.0.0"), { recursive: true })
  },
  "the cache by another name": {
    file: ({ home }) => join(home, ".cache", server),
    write: ["~/shelf"],
    before: ({ home }) => {
      mkdirSync(join(home, ".cache"), { recursive: true })
      symlinkSync(join(home, ".cache"), join(home, "shelf"))
    }
  },
  "packages of OpenCode's plugins": {
    file: ({ home }) => join(home, ".cache/opencode/node_modules/plugin/index.js"),
    write: ["~/.cache"]
  },
  "what was made of modules, where the workspace is the home folder": {
    file: ({ workspace }) => join(workspace, ".cache/reprise/compiled/a"),
    variables: ({ workspace }) => ({ HOME: workspace })
  },
  "modules of a home folder": {
    file: ({ workspace }) => join(workspace, ".node_modules/bufferutil/index.js"),
    variables: ({ workspace }) => ({ HOME: workspace })
  },
  "OpenCode's data": { file: ({ home }) => join(home, ".local/share/opencode/bin/rg"), write: ["~/.local"] },
  "what the user trusts": {
    file: ({ workspace }) => join(workspace, "out-config/reprise/trust/a.json"),
    variables: ({ workspace }) => ({ XDG_CONFIG_HOME: join(workspace, "out-config") })
  },
  "a server in a cache in the tree": {
    file: ({ workspace }) => join(workspace, "out-cache", server),
    variables: ({ workspace }) => ({ XDG_CACHE_HOME: join(workspace, "out-cache") })
  },
  "settings in the tree": {
    file: ({ workspace }) => join(workspace, "out-config/opencode/opencode.json"),
    variables: ({ workspace }) => ({ XDG_CONFIG_HOME: join(workspace, "out-config") })
  },
  "clones in the tree": {
    file: ({ workspace }) => join(workspace, "out-data/reprise/repositories/a/file"),
    variables: ({ workspace }) => ({ XDG_DATA_HOME: join(workspace, "out-data") })
  },
  "what a human allowed for good": {
    file: ({ home }) => join(home, ".cache", server),
    before: ({ home }) => mkdirSync(join(home, ".cache/reprise"), { recursive: true }),
    opened: ({ home }) => join(home, ".cache/reprise")
  }
}

const during = (here: Scene, settings: Partial<SandboxSettings>, more: Record<string, string>, opened: string) =>
  layerSandbox({
    mode: "required",
    gates: true,
    settings: { write: [], read: [], deny: [], network: [], ...settings },
    stateDirectory: here.stateDirectory,
    environment: environmentOf(here, more),
    opened: Effect.succeed(opened === "" ? [] : [opened])
  })

describe.skipIf(!sandboxed)("the folders of Reprise and OpenCode", () => {
  it.live.each(Object.entries(cases))(
    "are not written by a command: %s",
    ([, { before, file, opened, variables, write }]) =>
      Effect.gen(function* () {
        const here = yield* scene
        for (const folder of [".cache", ".config", ".local/share"]) {
          mkdirSync(join(here.home, folder), { recursive: true })
        }
        before?.(here)
        const path = file(here)
        const more = { XDG_CACHE_HOME: "", XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", ...variables?.(here) }
        const evil = `mkdir -p "${dirname(path)}"; echo ${canary} >"${path}"`
        const command = `touch out-ran; ${evil}; cd /; for up in "${here.home}"/.cache "${here.home}"/.local; do mv $up $up-old; done; ${evil}`
        const said = yield* Sandbox.use((sandbox) => runIn(here, sandbox, command, more)).pipe(
          Effect.provide(during(here, { write: write ?? [] }, more, opened?.(here) ?? "")),
          Effect.scoped,
          quietly
        )
        assert.isTrue(existsSync(join(here.workspace, "out-ran")), said)
        assert.notInclude(existsSync(path) ? readFileSync(path, "utf8") : "", canary, said)
      }).pipe(Effect.scoped)
  )

  it.live.each([
    ["Reprise", ".cache/reprise/nats-server"],
    ["OpenCode", ".cache/opencode"]
  ])("cannot be named by sandbox.write, and no command runs where they are: %s", ([, name = ""]) =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.home, name), { recursive: true })
      const failure = yield* Sandbox.use(({ shellFor }) => Effect.flip(shellFor(here.workspace, "author"))).pipe(
        Effect.provide(during(here, { write: [`~/${name}`] }, {}, "")),
        Effect.scoped,
        quietly
      )
      assert.match(failure.message, /sandbox\.write names .*outside of the sandbox.* Take it out of sandbox\.write/)
    }).pipe(Effect.scoped)
  )

  it.live("leave everything beside them to commands that may write there", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.home, ".cache/other"), { recursive: true })
      writeFileSync(join(here.home, ".cache/other/a"), "")
      yield* Sandbox.use((sandbox) => runIn(here, sandbox, "echo mine >~/.cache/other/a; echo mine >~/.cache/b")).pipe(
        Effect.provide(during(here, { write: ["~/.cache"] }, {}, "")),
        Effect.scoped,
        quietly
      )
      for (const name of ["other/a", "b"]) {
        assert.strictEqual(readFileSync(join(here.home, ".cache", name), "utf8"), "mine\n")
      }
    }).pipe(Effect.scoped)
  )
})
