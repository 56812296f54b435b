/**
 * Child processes, by Effect's spawner. Every child leads its own process group, which ends with the scope: SIGTERM, two
 * seconds, SIGKILL.
 */
import { Effect, type PlatformError, type Scope, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { HostFault } from "../faults.ts"

export const Spawner = ChildProcessSpawner.ChildProcessSpawner
export type Spawner = ChildProcessSpawner.ChildProcessSpawner
export type ProcessHandle = ChildProcessSpawner.ChildProcessHandle

export interface ProcessRequest {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly directory: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Default: none. */
  readonly input?: string
}

export const endGroup = { killSignal: "SIGTERM", forceKillAfter: "2 seconds" } as const

export const startProcess = (
  request: ProcessRequest,
  additionalFds: ChildProcess.CommandOptions["additionalFds"] = {}
): Effect.Effect<ProcessHandle, PlatformError.PlatformError, Spawner | Scope.Scope> =>
  Effect.flatMap(Spawner, (spawner) =>
    spawner.spawn(
      ChildProcess.make(request.command, request.args, {
        cwd: request.directory,
        env: request.environment,
        extendEnv: false,
        stdin: request.input === undefined ? "ignore" : Stream.make(new TextEncoder().encode(request.input)),
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

export interface Captured {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a short command to its end and returns its whole output. Not for output of unknown size. */
export const capture = Effect.fnUntraced(
  function* (request: ProcessRequest, timeoutMs: number) {
    const handle = yield* startProcess(request)
    const text = (stream: typeof handle.stdout) => stream.pipe(Stream.decodeText, Stream.mkString)
    const output = Effect.all([text(handle.stdout), text(handle.stderr)], { concurrency: 2 })
    const [stdout, stderr] = yield* Effect.timeout(output, timeoutMs)
    return { exitCode: yield* exitCodeOf(handle), stdout, stderr } satisfies Captured
  },
  Effect.scoped,
  (effect, request) => Effect.mapError(effect, (cause) => new HostFault({ operation: request.command, cause }))
)

/** What would redirect git to another repository (`GIT_*`), and Reprise's own credentials. */
const withheld = /^(GIT_|REPRISE_|NATS_|OPENCODE_)/i

/** The environment of every command in a workspace: the host's own, without what is withheld (docs/design/workspace.md#workspace). */
export const childEnvironment = (host: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(host).flatMap(([name, value]) =>
      value === undefined || withheld.test(name) ? [] : [[name, value] as const]
    )
  )
