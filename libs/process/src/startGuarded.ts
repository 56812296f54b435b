/**
 * Runs a server under a guard: a small shell whose standard input is a pipe from this process. However this process
 * ends, even by kill -9, the kernel closes the pipe; the guard then ends the server and everything that it started. When
 * the server dies by itself, the guard ends what it left behind before it reports the exit.
 * Guard and server have a session of their own: Ctrl-C reaches neither, we stop them in our order.
 */
import { spawn } from "node:child_process"
import { Deferred, Effect, Schema } from "effect"
import { guardFunctions } from "./guardFunctions.ts"
import { newMark } from "./Mark.ts"

export class GuardFailed extends Schema.TaggedError<GuardFailed>()("GuardFailed", { reason: Schema.String }) {
  override get message() {
    return `The guard of a server could not be started (${this.reason}). A POSIX shell at /bin/sh is needed.`
  }
}

export interface GuardOptions {
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** The file to which the program's output is appended. */
  readonly log: string
  readonly directory: string
}

export interface GuardedProcess {
  readonly pid: number
  /** The process group of the guard and the program. */
  readonly group: number
  /** The program's exit code; 128 and the signal's number when a signal ended it. */
  readonly exited: Deferred.Deferred<number>
  /** Ends the program and what it started; returns when it is done. */
  readonly stop: Effect.Effect<void>
}

/** Arguments: mark, log, program and its arguments. */
const script = `
mark=$1 log=$2
shift 2
umask 077
exec 3<&0 </dev/null
env "$mark" "$@" 3<&- >>"$log" 2>&1 &
program=$!
${guardFunctions}
(exec >/dev/null 2>&1; listen) &
listener=$!
exec 3<&- 2>/dev/null
echo $program
exec >/dev/null
wait $program
status=$?
sweep
kill -KILL $listener
wait $listener
exit $status
`

export const startGuarded = (options: GuardOptions): Effect.Effect<GuardedProcess, GuardFailed> =>
  Effect.callback((resume) => {
    const exited = Deferred.makeUnsafe<number>()
    const args = ["-c", script, "reprise-guard", newMark(), options.log, options.program, ...options.args]
    const guard = spawn("/bin/sh", args, {
      cwd: options.directory,
      env: { ...options.environment },
      detached: true,
      stdio: ["pipe", "pipe", "ignore"]
    })
    // Nothing is ever written to the pipe; closing it after the guard's death may complain.
    guard.stdin.on("error", () => undefined)
    guard.on("error", (error) => resume(Effect.fail(new GuardFailed({ reason: error.message }))))
    guard.on("exit", (code) => {
      guard.stdin.destroy()
      Deferred.doneUnsafe(exited, Effect.succeed(code ?? 255))
      resume(Effect.fail(new GuardFailed({ reason: `it ended with ${code}` })))
    })
    const stop = Effect.gen(function* () {
      guard.stdin.destroy()
      yield* Deferred.await(exited).pipe(
        Effect.timeoutOrElse({
          duration: "8 seconds",
          orElse: () =>
            Effect.andThen(
              Effect.sync(() => killGroup(guard.pid)),
              Effect.asVoid(Deferred.await(exited))
            )
        })
      )
    })
    guard.stdout.once("data", (line: Buffer) => {
      const pid = Number(line.toString().trim())
      resume(
        Number.isInteger(pid) && pid > 0
          ? Effect.succeed({ pid, group: guard.pid ?? pid, exited, stop })
          : Effect.fail(new GuardFailed({ reason: "it reported no process id" }))
      )
    })
  })

const killGroup = (group: number | undefined) => {
  if (group === undefined) return
  try {
    process.kill(-group, "SIGKILL")
  } catch {
    // All of it is gone already.
  }
}
