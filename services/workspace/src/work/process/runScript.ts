/** Runs a shell script that may take long, start other processes and write any amount of output. */
import { Effect, Fiber, type PlatformError, type Scope, Stream } from "effect"
import { endGroup, exitCodeOf, type ProcessHandle, type Spawner, startProcess } from "./runProcess.ts"

export interface Script {
  readonly script: string
  /** The path of what reads the script, given after `-c`. Default: the system's shell. */
  readonly shell?: string
  readonly directory: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
}

/** Never looked up: the first folder of a `PATH` may be one that agents write. */
const systemShell = "/bin/sh"

/** `exitCode` is null when the script timed out or a signal ended its shell. */
export interface ScriptEnd {
  readonly exitCode: number | null
  readonly timedOut: boolean
}

/**
 * Runs `$1` in a shell, next to a watcher that waits for the end of descriptor 3. Only this process holds the other
 * end, so when this process is killed, the watcher kills the group: a script never outlives whoever asked for it, and
 * never runs twice at the same time. Both outlast the SIGTERM that asks the script to end, which it may ignore. What
 * the shell itself would say of that is not the script's output. It waits for its watcher, because a container may have
 * nobody else to do it.
 */
const watched = `exec 4>&2 2>/dev/null
trap : TERM
(trap "" TERM; read -r _ <&3; kill -KILL 0) >/dev/null 4>&- &
watcher=$!
(exec "$2" -c "$1" 2>&4 3<&- 4>&-)
code=$?
kill -KILL "$watcher"
wait "$watcher"
exit "$code"`

const awaitEnd = (handle: ProcessHandle, timeoutMs: number): Effect.Effect<ScriptEnd> =>
  exitCodeOf(handle).pipe(
    Effect.map((exitCode): ScriptEnd => ({ exitCode, timedOut: false })),
    Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => Effect.succeed({ exitCode: null, timedOut: true }) })
  )

/** A descendant that left the group may hold the pipe open forever; its output is not the script's. */
const awaitOutput = <E>(output: Fiber.Fiber<void, E>) =>
  Fiber.join(output).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Fiber.interrupt(output) }))

/**
 * Runs a script to its end, without input. `take` gets the output of both streams as it comes. When the script has
 * ended or `timeoutMs` is over, the rest of its process group is ended too.
 */
export const runScript = Effect.fnUntraced(function* <E, R>(
  { script, shell: reader = systemShell, ...where }: Script,
  timeoutMs: number,
  take: (chunk: Uint8Array) => Effect.Effect<void, E, R>
): Effect.fn.Return<ScriptEnd, PlatformError.PlatformError | E, Spawner | Scope.Scope | R> {
  const shell = { ...where, command: systemShell, args: ["-c", watched, "sh", script, reader] }
  const handle = yield* startProcess(shell, { fd3: { type: "input" } })
  const output = yield* handle.all.pipe(Stream.runForEach(take), Effect.forkScoped({ startImmediately: true }))
  const end = yield* awaitEnd(handle, timeoutMs)
  yield* handle.kill(endGroup).pipe(Effect.ignore)
  yield* awaitOutput(output)
  return end
})
