/** Tries the whole table of escapes with one program, as one agent. */
import { execFile } from "node:child_process"
import type { Role } from "@reprise/protocol"
import { Effect } from "effect"
import { layerSandbox, Sandbox } from "../../src/index.ts"
import { canary, escapes, lookOutside, recorded, type Scene, scene } from "../../src/testing/index.ts"
import { environmentOf, quietly } from "./sandboxedScene.ts"

const secrets = { OPENCODE_SERVER_PASSWORD: canary, GITHUB_TOKEN: canary }

/** One try, by its place in the table. */
export const tryOne = (here: Scene, shell: string, attempt: (typeof escapes)[number], index: number) =>
  Effect.callback<void>((resume) => {
    const where = { cwd: here.workspace, env: environmentOf(here, secrets), timeout: 60_000 }
    execFile(shell, ["-c", recorded(here, index)], where, () => {
      lookOutside(here, attempt)
      resume(Effect.void)
    })
  })

const optionsOf = (here: Scene) => ({
  mode: "required" as const,
  gates: true,
  settings: { write: [], read: [], deny: [], network: ["registry.npmjs.org"] },
  stateDirectory: here.stateDirectory,
  environment: environmentOf(here, secrets)
})

/** The scene after all tries of an agent in the sandbox, as at the end of its turn. */
export const sceneAfterAll = Effect.fnUntraced(function* (role: Role) {
  const here = yield* scene
  yield* Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const shell = yield* sandbox.shellFor(here.workspace, role)
    yield* Effect.forEach(escapes, (attempt, index) => tryOne(here, shell, attempt, index), { discard: true })
    yield* sandbox.tidy(here.workspace)
  }).pipe(Effect.provide(layerSandbox(optionsOf(here))), quietly)
  return here
})
