/** Starts one program as a child of this process. */
import { spawn } from "node:child_process"
import type { Readable } from "node:stream"

/** What is started, with nothing left to look up. */
export interface ProgramWords {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly directory: string | undefined
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly input: string | Buffer
}

/** Gets a piece of what a program writes. The next one waits for the promise. */
export type Take = (piece: Buffer) => Promise<void> | undefined

export interface Takers {
  readonly output: Take
  readonly errors: Take
}

export interface Program {
  /** Undefined: it is not started yet, could not be, or has ended. */
  readonly pid: () => number | undefined
  /** For it and its process group. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** Its exit code, or the signal that ended it, once its outputs are closed, too. Rejects when it could not be started. */
  readonly closed: Promise<number | NodeJS.Signals>
}

const feed = (stream: Readable, take: Take): void => {
  stream.on("data", (piece: Buffer) => {
    const taken = take(piece)
    if (taken === undefined) return
    stream.pause()
    void taken.then(() => stream.resume())
  })
}

/** A session and a process group of its own: no terminal to prompt at, and one id to end all. */
export const startHere = ({ args, command, directory, environment, input }: ProgramWords, takers: Takers): Program => {
  const child = spawn(command, args, {
    ...(directory === undefined ? {} : { cwd: directory }),
    env: { ...environment },
    detached: true,
    stdio: ["pipe", "pipe", "pipe"]
  })
  let hasClosed = false
  const closed = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => {
      hasClosed = true
      resolve(code ?? signal ?? "SIGKILL")
    })
  })
  // A program may end without having read its input, and a pipe may break: how it ended is what counts.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined)
  feed(child.stdout, takers.output)
  feed(child.stderr, takers.errors)
  child.stdin.end(input)
  return {
    closed,
    pid: () => (hasClosed ? undefined : child.pid),
    signal: (signal) => {
      if (child.pid === undefined || hasClosed) return
      try {
        process.kill(-child.pid, signal)
      } catch {
        // The group has ended meanwhile.
      }
    }
  }
}
