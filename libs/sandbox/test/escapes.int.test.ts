import { execFile } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { layerSandbox, Sandbox } from "../src/index.ts"
import { canary, canSandbox, escapedFrom, escapes, lookOutside, recorded, type Scene, scene } from "../src/testing.ts"

const sandboxed = await canSandbox()

/** What is put aside is said in the log. */
const quietly = Effect.provideService(References.MinimumLogLevel, "Error")

const environmentOf = ({ home }: Scene) => ({
  ...process.env,
  HOME: home,
  OPENCODE_SERVER_PASSWORD: canary,
  GITHUB_TOKEN: canary
})

const tryAll = (it: Scene, shell: string) =>
  Effect.forEach(
    escapes,
    (attempt, index) =>
      Effect.callback<void>((resume) => {
        execFile(
          shell,
          ["-c", recorded(it, index)],
          { cwd: it.workspace, env: environmentOf(it), timeout: 60_000 },
          () => {
            lookOutside(it, attempt)
            resume(Effect.void)
          }
        )
      }),
    { discard: true }
  )

const options = (it: Scene) => ({
  mode: "required" as const,
  gates: true,
  settings: { write: [], read: [], deny: [], network: ["registry.npmjs.org"] },
  stateDirectory: it.stateDirectory,
  environment: environmentOf(it)
})

describe.skipIf(!sandboxed)("the sandbox", () => {
  it.live.each(["author", "reviewer"] as const)("keeps every try of the table inside, for an %s", (role) =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        yield* tryAll(here, yield* sandbox.shellFor(here.workspace, role))
        // As at the end of every turn.
        yield* sandbox.tidy(here.workspace)
      }).pipe(Effect.provide(layerSandbox(options(here))))
      assert.isAtLeast(escapes.length, 40)
      assert.deepStrictEqual(escapedFrom(here), [])
    }).pipe(quietly)
  )

  it.live("is what keeps them inside: a plain shell lets most of them out", () =>
    Effect.gen(function* () {
      const here = yield* scene
      // The others would change this machine.
      const outside = /process|mount|namespace|root|grandchild|machine|crontab|usr/
      yield* Effect.forEach(escapes, (attempt, index) =>
        outside.test(attempt.title)
          ? Effect.void
          : Effect.callback<void>((resume) => {
              execFile(
                "/bin/bash",
                ["-c", recorded(here, index)],
                { cwd: here.workspace, env: environmentOf(here), timeout: 60_000 },
                () => {
                  lookOutside(here, attempt)
                  resume(Effect.void)
                }
              )
            })
      )
      const out = escapedFrom(here).filter((line) => !line.endsWith("not tried"))
      assert.isAtLeast(out.length, 30, out.join("\n"))
    })
  )
})
