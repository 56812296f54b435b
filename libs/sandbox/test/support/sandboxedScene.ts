/** The sandbox of a scene, and commands in it. */
import { execFile, execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Fiber, References, Schedule, type Scope } from "effect"
import { layerSandbox, Sandbox, type SandboxSettings, type SandboxShape } from "../../src/index.ts"
import type { Scene } from "../../src/testing/index.ts"

type Variables = Readonly<Record<string, string>>

export const environmentOf = ({ home }: Pick<Scene, "home">, more: Variables = {}) => ({
  ...process.env,
  HOME: home,
  ...more
})

/** What is put aside is said in the log. */
export const quietly = Effect.provideService(References.MinimumLogLevel, "None")

/** git outside of the sandbox, as a user without settings of their own runs it. */
export const git = (here: Pick<Scene, "home" | "workspace">, ...args: ReadonlyArray<string>) =>
  execFileSync("git", args, {
    cwd: here.workspace,
    encoding: "utf8",
    stdio: "pipe",
    env: { ...process.env, HOME: join(here.home, "nobody") }
  }).trim()

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

/** Runs a command that waits until something has happened outside while it goes on. */
export const meanwhile = (
  here: Pick<Scene, "home" | "workspace">,
  shell: string,
  happens: () => void,
  command: string
) =>
  Effect.gen(function* () {
    const begun = join(here.workspace, "out-begun")
    const said = yield* Effect.forkChild(
      run(here, shell, `touch out-begun; until [ -e out-happened ]; do sleep 0.02; done; ${command}`)
    )
    yield* until(() => existsSync(begun))
    try {
      happens()
    } finally {
      writeFileSync(join(here.workspace, "out-happened"), "")
    }
    return yield* Fiber.join(said)
  })
