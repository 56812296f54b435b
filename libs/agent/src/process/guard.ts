/**
 * Runs a program under a guard: a small shell whose standard input is a pipe from this process. However we end, also by
 * kill -9, the kernel closes the pipe; the guard then ends the program and everything that carries its mark. It does
 * the latter too when the program dies by itself, before it reports the death.
 * Guard and program have a session of their own: Ctrl-C reaches neither, we stop them in our order.
 */
import { spawn } from "node:child_process"
import { Deferred, Effect, Schema } from "effect"
import type { Mark } from "./leftoverProcesses.ts"

export class GuardFailed extends Schema.TaggedError<GuardFailed>()("GuardFailed", { reason: Schema.String }) {
  override get message() {
    return `The guard of a server could not be started (${this.reason}). A POSIX shell at /bin/sh is needed.`
  }
}

export interface GuardOptions {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  /** What the guard ends; not in `environment`, or the guard would end itself. */
  readonly mark: Mark
  /** Appended to: what the program writes. */
  readonly log: string
  readonly directory: string
}

export interface GuardedProcess {
  readonly pid: number
  /** Of the guard and the program. */
  readonly group: number
  /** The program's exit code; 128 and the signal's number when a signal ended it. */
  readonly exited: Deferred.Deferred<number>
  /** Ends the program and what carries its mark; returns when it is done. */
  readonly stop: Effect.Effect<void>
}

/**
 * Arguments: mark, log, program and its arguments. The mark is set for the program alone, so the sweep does not meet
 * the guard. `listen` outlives the main shell if that is killed. The sweep repeats, as a process may fork meanwhile, and
 * takes no notice of grep's status, which is bad when a process ends while it is looked at. Without /proc it finds
 * nothing, and the next owner's `endLeftovers` does it. A sleep may outlive its shell: it carries no environment.
 */
/** Ends what carries `$mark`, and, once nothing holds the pipe at descriptor 3 any more, `$program` too. */
export const guardian = `
sweep() {
  rounds=20
  while [ $rounds -gt 0 ]; do
    found=$(grep -lzxF -e "$mark" /proc/[0-9]*/environ)
    [ -n "$found" ] || break
    for file in $found; do pid=\${file#/proc/}; kill -KILL "\${pid%/environ}"; done
    rounds=$((rounds - 1))
  done
}
listen() {
  while read -r _ <&3; do :; done
  kill -TERM $program
  patience=30
  while kill -0 $program && [ $patience -gt 0 ]; do env -i sleep 0.1 || env -i sleep 1; patience=$((patience - 1)); done
  kill -KILL $program
  sweep
}
`

const script = `
mark=$1 log=$2
shift 2
umask 077
exec 3<&0 </dev/null
env "$mark" "$@" 3<&- >>"$log" 2>&1 &
program=$!
${guardian}
(exec >/dev/null 2>&1; listen) &
listener=$!
exec 3<&- 2>/dev/null
echo $program
exec >/dev/null
wait $program
status=$?
sweep
kill -KILL $listener
exit $status
`

export const startGuarded = (options: GuardOptions): Effect.Effect<GuardedProcess, GuardFailed> =>
  Effect.callback((resume) => {
    const exited = Deferred.makeUnsafe<number>()
    const args = ["-c", script, "reprise-guard", options.mark, options.log, options.program, ...options.args]
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
          : Effect.fail(new GuardFailed({ reason: "it named no process" }))
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
