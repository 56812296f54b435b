/**
 * Runs the server under a guard, a small shell that outlives us by a moment. Its standard input is a pipe from this
 * process: however we end, also by kill -9, the kernel closes the pipe, and the guard stops the server.
 * Both are in a session of their own, so that Ctrl-C or a closed terminal does not stop the server before we have
 * stopped what uses it.
 */
import { spawn } from "node:child_process"
import { Deferred, Effect, Schema } from "effect"

export class GuardFailed extends Schema.TaggedError<GuardFailed>()("GuardFailed", { reason: Schema.String }) {
  override get message() {
    return `The guard of nats-server could not be started (${this.reason}). A POSIX shell at /bin/sh is needed.`
  }
}

export interface GuardedServer {
  /** Of the server itself. */
  readonly pid: number
  /** The server's exit code; 128 and the signal's number when a signal ended it. */
  readonly exited: Deferred.Deferred<number>
  /** Asks the server to stop, waits until it has, and kills it when it does not. */
  readonly stop: Effect.Effect<void>
}

/**
 * Arguments: program, configuration, log. A subshell waits for the end of the pipe and stops the server; the main shell
 * reports the server's process id, waits for it, and then ends the whole group. Each of the two works without the
 * other. It ignores the signals that it sends to its own group, and sets that up only after the server has started,
 * because ignored signals are inherited.
 */
const script = `
umask 077
exec 3<&0 </dev/null
"$1" -c "$2" 3<&- >>"$3" 2>&1 &
server=$!
(
  exec >/dev/null 2>&1
  while read -r _ <&3; do :; done
  kill -TERM $server
  left=25
  while kill -0 $server && [ $left -gt 0 ]; do sleep 0.2 || sleep 1; left=$((left - 1)); done
  kill -0 $server && kill -KILL $server
) &
exec 3<&-
trap '' TERM INT HUP
echo $server
exec >/dev/null
wait $server
status=$?
kill -TERM 0
exit $status
`

export interface GuardOptions {
  readonly program: string
  readonly config: string
  readonly log: string
  readonly directory: string
}

const environment = () => ({ PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" })

export const startGuarded = (options: GuardOptions): Effect.Effect<GuardedServer, GuardFailed> =>
  Effect.callback((resume) => {
    const exited = Deferred.makeUnsafe<number>()
    const guard = spawn("/bin/sh", ["-c", script, "reprise-guard", options.program, options.config, options.log], {
      cwd: options.directory,
      env: environment(),
      detached: true,
      stdio: ["pipe", "pipe", "ignore"]
    })
    // Writing to the pipe never happens; closing it after the guard's death may complain.
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
            Effect.sync(() => killGroup(guard.pid)).pipe(Effect.andThen(Deferred.await(exited)), Effect.asVoid)
        })
      )
    })
    guard.stdout.once("data", (line: Buffer) => {
      const pid = Number(line.toString().trim())
      resume(
        Number.isInteger(pid) && pid > 0
          ? Effect.succeed({ pid, exited, stop })
          : Effect.fail(new GuardFailed({ reason: "it named no server process" }))
      )
    })
  })

const killGroup = (pid: number | undefined) => {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // The whole group is gone already: what was wanted.
  }
}
