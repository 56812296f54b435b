/**
 * Child processes without input, by Effect's spawner. Every child leads its own process group, which ends with the
 * scope: SIGTERM, two seconds, SIGKILL.
 */
import { Effect, type PlatformError, type Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

export type Spawner = ChildProcessSpawner.ChildProcessSpawner
export type ProcessHandle = ChildProcessSpawner.ChildProcessHandle

interface ProcessRequest {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly directory: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
}

export const endGroup = { killSignal: "SIGTERM", forceKillAfter: "2 seconds" } as const

export const startProcess = (
  request: ProcessRequest,
  additionalFds: ChildProcess.CommandOptions["additionalFds"] = {}
): Effect.Effect<ProcessHandle, PlatformError.PlatformError, Spawner | Scope.Scope> =>
  Effect.flatMap(ChildProcessSpawner.ChildProcessSpawner, (spawner) =>
    spawner.spawn(
      ChildProcess.make(request.command, request.args, {
        cwd: request.directory,
        env: request.environment,
        extendEnv: false,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
        additionalFds,
        ...endGroup
      })
    )
  )

/** Waits for the end of the process; null when a signal ended it. */
export const exitCodeOf = (handle: ProcessHandle): Effect.Effect<number | null> =>
  handle.exitCode.pipe(
    Effect.map((code): number | null => code),
    Effect.catch(() => Effect.succeed(null))
  )
