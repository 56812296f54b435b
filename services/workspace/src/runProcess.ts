/**
 * Child processes, by Effect's spawner: the one file that knows its module. Every child leads a process group of its
 * own, which ends with the scope: SIGTERM, two seconds, SIGKILL.
 */
import { Effect, Fiber, type PlatformError, type Scope, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

export type Spawner = ChildProcessSpawner.ChildProcessSpawner

interface ProcessRequest {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly directory: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
}

const graceful = { killSignal: "SIGTERM", forceKillAfter: "2 seconds" } as const

const spawn = (
  request: ProcessRequest,
  additionalFds: ChildProcess.CommandOptions["additionalFds"] = {}
): Effect.Effect<ChildProcessSpawner.ChildProcessHandle, PlatformError.PlatformError, Spawner | Scope.Scope> =>
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
        ...graceful
      })
    )
  )

/** null: ended by a signal. */
const exitCode = (handle: ChildProcessSpawner.ChildProcessHandle): Effect.Effect<number | null> =>
  handle.exitCode.pipe(
    Effect.map((code): number | null => code),
    Effect.catch(() => Effect.succeed(null))
  )

export interface Ended {
  readonly exitCode: number | null
  readonly timedOut: boolean
}

/**
 * Runs `$1` in a shell, and beside it a watcher that waits for the end of descriptor 3. Only this process holds its
 * other end, so when this process is killed the watcher kills the group: a command never outlives who asked for it, and
 * never runs twice at a time. The watcher is collected here, since a container may have nobody else to do it.
 */
const watched = `(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 &
watcher=$!
sh -c "$1" 3<&-
code=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
exit "$code"`

export interface ShellScript {
  /** For `sh -c`. */
  readonly script: string
  readonly directory: string
  /** All of it: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Runs a script to its end, without input, and hands on its output, both streams as they come. When it has ended or
 * `timeoutMs` is over, whatever is left of its process group is ended too.
 */
export const follow = Effect.fnUntraced(function* <E, R>(
  { script, ...where }: ShellScript,
  timeoutMs: number,
  take: (chunk: Uint8Array) => Effect.Effect<void, E, R>
): Effect.fn.Return<Ended, PlatformError.PlatformError | E, Spawner | Scope.Scope | R> {
  const handle = yield* spawn(
    { ...where, command: "sh", args: ["-c", watched, "sh", script] },
    { fd3: { type: "input" } }
  )
  const output = yield* handle.all.pipe(Stream.runForEach(take), Effect.forkScoped({ startImmediately: true }))
  const ended = yield* exitCode(handle).pipe(
    Effect.map((code): Ended => ({ exitCode: code, timedOut: false })),
    Effect.timeoutOrElse({
      duration: timeoutMs,
      orElse: () => Effect.succeed<Ended>({ exitCode: null, timedOut: true })
    })
  )
  yield* handle.kill(graceful).pipe(Effect.ignore)
  // A descendant that left the group may hold the pipe open for ever; what it writes is not the command's.
  yield* Fiber.join(output).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Fiber.interrupt(output) }))
  return ended
})
