/** The sandbox of a scene, and commands in it. */
import { execFile } from "node:child_process"
import { Effect, References, Schedule, type Scope } from "effect"
import { layerSandbox, Sandbox, type SandboxSettings, type SandboxShape } from "../../src/index.ts"
import type { Scene } from "../../src/testing.ts"

type Variables = Readonly<Record<string, string>>

export const environmentOf = ({ home }: Pick<Scene, "home">, more: Variables = {}) => ({
  ...process.env,
  HOME: home,
  ...more
})

/** What is put aside is said in the log. */
export const quietly = Effect.provideService(References.MinimumLogLevel, "None")

type Place = Pick<Scene, "home" | "stateDirectory">

/** In a process of Reprise's: what it knows is gone with it. */
export const during = <A, E>(
  here: Place,
  use: (sandbox: SandboxShape) => Effect.Effect<A, E, Scope.Scope>,
  more?: Variables,
  settings: Partial<SandboxSettings> = {}
) =>
  Sandbox.use(use).pipe(
    Effect.provide(
      layerSandbox({
        mode: "required",
        gates: true,
        settings: { write: [], read: [], deny: [], network: [], ...settings },
        stateDirectory: here.stateDirectory,
        environment: environmentOf(here, more)
      })
    ),
    Effect.scoped,
    quietly
  )

/** What a command says. This process answers what the command's program asks, so it does not wait in one piece. */
export const run = (here: Pick<Scene, "home" | "workspace">, shell: string, command: string, more?: Variables) =>
  Effect.callback<string>((resume) => {
    execFile(shell, ["-c", command], { cwd: here.workspace, env: environmentOf(here, more) }, (_, stdout, stderr) =>
      resume(Effect.succeed(stdout + stderr))
    )
  })

/** The same for a command of an author. */
export const runIn = (
  here: Pick<Scene, "home" | "workspace">,
  { shellFor }: SandboxShape,
  command: string,
  more?: Variables
) => Effect.flatMap(shellFor(here.workspace, "author"), (shell) => run(here, shell, command, more))

export const until = (isTrue: () => boolean) =>
  Effect.repeat(Effect.sync(isTrue), { until: (done) => done, schedule: Schedule.spaced("5 millis") })
