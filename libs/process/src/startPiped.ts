/**
 * A guard (see `startGuarded.ts`) for a program whose standard input and output we use. The guard has a pipe of its own,
 * descriptor 3: over it the guard reports the program's process id, and notices when this process ends.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { EventEmitter } from "node:events"
import { Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import { guardFunctions } from "./guardFunctions.ts"
import { newMark } from "./Mark.ts"

export interface PipedOptions {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
}

/** Shaped like Node's `ChildProcess`. `kill` tells the guard to end the program and everything that it started. */
export interface PipedProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Of the program, not of its guard; undefined until the guard has told it. */
  readonly pid: () => number | undefined
  /** The guard is gone, and with it the program and all that it started. */
  readonly exited: Promise<void>
  readonly killed: boolean
  readonly exitCode: number | null
  readonly kill: () => boolean
  readonly on: EventEmitter["on"]
  readonly once: EventEmitter["once"]
  readonly off: EventEmitter["off"]
}

/** The program alone holds its pipes: the guard must not keep its input or output open after it. */
const script = `
mark=$1
shift
exec 4<&0 </dev/null
env "$mark" "$@" <&4 3<&- 4<&- &
program=$!
exec 4<&- 2>/dev/null
${guardFunctions}
(exec >/dev/null; listen) &
listener=$!
echo $program >&3
exec 3<&- >/dev/null
wait $program
status=$?
sweep
kill -KILL $listener
exit $status
`

const pipesOf = ({ stderr, stdin, stdio, stdout }: ChildProcess) => {
  const lifeline = stdio[3]
  if (stdin === null || stdout === null || stderr === null || !(lifeline instanceof Socket)) {
    throw new Error("A child process was started without its pipes.")
  }
  return { stdin, stdout, stderr, lifeline }
}

export const startPiped = (options: PipedOptions): PipedProcess => {
  const args = ["-c", script, "reprise-guard", newMark(), options.program, ...options.args]
  const guard = spawn("/bin/sh", args, {
    cwd: options.directory,
    env: { ...options.environment },
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"]
  })
  const { lifeline, stderr, stdin, stdout } = pipesOf(guard)
  const events = new EventEmitter()
  let pid: number | undefined
  let killed = false
  // Writing to what has ended, or closing it, may complain; the end itself is what counts.
  for (const stream of [lifeline, stdin]) stream.on("error", () => undefined)
  lifeline.once("data", (line: Buffer) => {
    pid = Number(line.toString().trim()) || undefined
  })
  const exited = new Promise<void>((resolve) => {
    guard.once("exit", (code, signal) => {
      lifeline.destroy()
      resolve()
      events.emit("exit", code, signal)
    })
    guard.once("error", (error) => {
      lifeline.destroy()
      resolve()
      if (events.listenerCount("error") > 0) events.emit("error", error)
    })
  })
  return {
    stdin,
    stdout,
    stderr,
    exited,
    pid: () => pid,
    get killed() {
      return killed
    },
    get exitCode() {
      return guard.exitCode
    },
    kill: () => {
      killed = true
      lifeline.destroy()
      return true
    },
    on: events.on.bind(events),
    once: events.once.bind(events),
    off: events.off.bind(events)
  }
}
