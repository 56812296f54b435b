/** Runs a program that ends by itself, such as git, and collects its output. */
import { type ChildProcess, spawn } from "node:child_process"
import { access, constants } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import type { Readable } from "node:stream"
import { Effect, Schema } from "effect"
import { hasCode } from "./files.ts"

/** Whether there is a file at the path that this user may execute. */
export const isProgram = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    access(path, constants.X_OK).then(
      () => true,
      () => false
    )
  )

/** The path of the first program of this name in the folders of `PATH`; undefined: there is none. Nothing is started. */
export const findProgram = Effect.fn("findProgram")(function* (
  name: string,
  environment: Readonly<Record<string, string | undefined>>
) {
  for (const directory of (environment["PATH"] ?? "").split(delimiter)) {
    const candidate = join(directory, name)
    if (isAbsolute(directory) && (yield* isProgram(candidate))) return candidate
  }
  return undefined
})

export interface ProgramRequest {
  /** A path, or a name to look up in the request's `PATH`. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly directory?: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Written to its standard input; without it the input is empty. */
  readonly input?: string
  /** Default: two minutes. */
  readonly timeoutMs?: number
  /** Of its output, and of its errors. Default: 128 MB. */
  readonly largestOutputBytes?: number
  /** Whether a program that writes more is ended with success, and its output cut. Default: it fails. */
  readonly cutsOutput?: boolean
  /** Gets its output piece by piece, however much it is; `stdout` is empty then. */
  readonly take?: (piece: Buffer) => void
}

export interface ProgramOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** It wrote more, and was ended. */
  readonly isCut?: true
}

/**
 * The program did not run to its end. A program that ends with an exit code other than 0 did, and is no failure. One that a
 * signal ended did not: a terminal's Ctrl-C can also end a program that is just being started (seen with git). `output`: it
 * wrote more than allowed. `blocked`: it waited for a file that never answers, which the cause, a `ForeignFileRefused`, names.
 */
export class ProgramFailed extends Schema.TaggedError<ProgramFailed>()("ProgramFailed", {
  program: Schema.String,
  reason: Schema.Literals(["not-found", "timeout", "signal", "fault", "output", "blocked"]),
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.program} could not be run: ${cause}`
  }
}

const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    // The group has ended meanwhile.
  }
}

/** Ends the program and its process group: SIGTERM first, SIGKILL after two seconds. */
const end = (child: ChildProcess, closed: Promise<unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    signalGroup(child, "SIGTERM")
    return Effect.promise(() => closed).pipe(
      Effect.timeoutOrElse({
        duration: "2 seconds",
        orElse: () => Effect.sync(() => signalGroup(child, "SIGKILL"))
      })
    )
  })

const faultOf = (program: string, cause: unknown): ProgramFailed =>
  new ProgramFailed({ program, reason: hasCode(cause, "ENOENT") ? "not-found" : "fault", cause })

const defaultOutputBytes = 128 * 1024 * 1024

/** Calls `tooMuch` at the first byte beyond the limit, and keeps what was before it. */
const collect = (stream: Readable, largestBytes: number, tooMuch: () => void): { readonly text: () => string } => {
  const chunks: Array<Buffer> = []
  let room = largestBytes
  stream.on("data", (chunk: Buffer) => {
    if (chunk.length > room) {
      stream.destroy()
      tooMuch()
    }
    chunks.push(chunk.subarray(0, room))
    room -= Math.min(room, chunk.length)
  })
  // A pipe that breaks is seen by how the program ends.
  stream.on("error", () => undefined)
  return { text: () => Buffer.concat(chunks).toString("utf8") }
}

const pass = (stream: Readable, take: (piece: Buffer) => void): { readonly text: () => string } => {
  stream.on("data", take)
  stream.on("error", () => undefined)
  return { text: () => "" }
}

/** `detached` gives the program a session and a process group of its own: no terminal to prompt at, and one id to end all. */
const run = ({
  args,
  cutsOutput = false,
  directory,
  environment,
  input,
  largestOutputBytes = defaultOutputBytes,
  program,
  take
}: ProgramRequest) =>
  Effect.callback<ProgramOutput, ProgramFailed>((resume) => {
    const child = spawn(program, [...args], {
      ...(directory === undefined ? {} : { cwd: directory }),
      env: { ...environment },
      detached: true,
      stdio: ["pipe", "pipe", "pipe"]
    })
    const closed = new Promise<number | NodeJS.Signals>((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code, signal) => resolve(code ?? signal ?? "SIGKILL"))
    })
    const ended = Effect.suspend(() =>
      end(
        child,
        closed.catch(() => undefined)
      )
    )
    // A program may end without having read its input; how it ended is what counts.
    child.stdin.on("error", () => undefined)
    child.stdin.end(input ?? "")
    const texts = () => ({ stdout: stdout.text(), stderr: stderr.text() })
    const tooMuch = () => {
      const cause = `it wrote more than ${largestOutputBytes} bytes`
      const outcome = Effect.suspend(() =>
        cutsOutput
          ? Effect.succeed({ exitCode: 0, ...texts(), isCut: true as const })
          : Effect.fail(new ProgramFailed({ program, reason: "output", cause }))
      )
      resume(Effect.andThen(ended, outcome))
    }
    const stdout = take === undefined ? collect(child.stdout, largestOutputBytes, tooMuch) : pass(child.stdout, take)
    const stderr = collect(child.stderr, largestOutputBytes, tooMuch)
    closed.then(
      (how) =>
        resume(
          typeof how === "number"
            ? Effect.succeed({ exitCode: how, ...texts() })
            : new ProgramFailed({ program, reason: "signal", cause: `${how} ended it` })
        ),
      (cause) => resume(Effect.fail(faultOf(program, cause)))
    )
    return ended
  })

/**
 * Runs a program to its end and gives its exit code and everything it wrote, up to the limit of the request. When the fiber is interrupted or the time is over, the program and its process group are ended. Fails with
 * `ProgramFailed`; the reason `not-found` also stands for a directory that does not exist.
 *
 * @example runProgram({ program: "ps", args: ["-A"], environment: { PATH: "/bin:/usr/bin" } })
 */
export const runProgram = Effect.fn("runProgram")(function* (request: ProgramRequest) {
  const { program, timeoutMs = 120_000 } = request
  return yield* run(request).pipe(
    Effect.timeoutOrElse({
      duration: timeoutMs,
      orElse: () =>
        Effect.fail(new ProgramFailed({ program, reason: "timeout", cause: `it did not end within ${timeoutMs} ms` }))
    })
  )
})
