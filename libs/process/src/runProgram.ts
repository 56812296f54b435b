/** Runs a program that ends by itself, such as git, and collects its output. */
import { access, constants, stat } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { Effect, Schema } from "effect"
import { hasCode } from "./files.ts"
import { workedMsOf } from "./identity.ts"
import { withMemoryLimit } from "./memoryLimit.ts"
import { largestOpenFile } from "./openFiles.ts"
import { type Ending, reasonOf, reasons } from "./programEnd.ts"
import { startProgram } from "./programStarter.ts"
import { type Program, startHere } from "./startHere.ts"

/** Whether there is a file at the path that this user may execute. */
export const isProgram = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    Promise.all([stat(path), access(path, constants.X_OK)]).then(
      ([found]) => found.isFile(),
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
  /** A path, or a name to look up in the absolute folders of the request's `PATH`. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly directory?: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Written to its standard input; without it the input is empty. */
  readonly input?: string | Buffer
  /** Default: two minutes. */
  readonly timeoutMs?: number
  /** Of its output, and of its errors. Default: 128 MB; of its errors never more. */
  readonly largestOutputBytes?: number
  /** Of the program, without the files that it maps, where the system can limit that. Default: any. */
  readonly largestMemoryBytes?: number
  /** Whether a program that writes more is ended with success, and its output cut. Default: it fails. */
  readonly cutsOutput?: boolean
  /** Gets its output piece by piece; `stdout` is empty then. */
  readonly take?: (piece: Buffer) => void
}

export interface ProgramOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** It wrote more, and was ended. */
  readonly isCut?: true
}

const whatHappened = (reason: string): string =>
  reason === "not-found" || reason === "fault" ? "could not be run" : "gave no answer"

/**
 * The program did not run to its end. A program that ends with an exit code other than 0 did, and is not a failure, unless its
 * memory was limited and it says that it has none left. `blocked`: the cause, a `ForeignFileRefused`, names the file.
 * `faultOf` says what a reason means.
 */
export class ProgramFailed extends Schema.TaggedError<ProgramFailed>()("ProgramFailed", {
  program: Schema.String,
  reason: Schema.Literals(reasons),
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.program} ${whatHappened(this.reason)}: ${this.details}`
  }
  /** Why, without the program. */
  get details() {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** Ends the program and its process group: SIGTERM first, SIGKILL after two seconds. */
const end = ({ closed, signal }: Program): Effect.Effect<void> =>
  Effect.suspend(() => {
    signal("SIGTERM")
    return Effect.promise(() => closed.catch(() => undefined)).pipe(
      Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.sync(() => signal("SIGKILL")) })
    )
  })

const notStarted = (program: string, cause: unknown): ProgramFailed =>
  new ProgramFailed({ program, reason: hasCode(cause, "ENOENT") ? "not-found" : "fault", cause })

const defaultOutputBytes = 128 * 1024 * 1024

interface Collector {
  readonly take: (piece: Buffer) => undefined
  readonly text: () => string
}

/** Calls `tooMuch` at the first byte beyond the limit, and keeps what was before it. */
const collect = (largestBytes: number, tooMuch: () => void): Collector => {
  const pieces: Array<Buffer> = []
  let room = largestBytes
  const take = (piece: Buffer): undefined => {
    if (piece.length > room) tooMuch()
    if (room > 0) pieces.push(piece.subarray(0, room))
    room -= Math.min(room, piece.length)
  }
  return { take, text: () => Buffer.concat(pieces).toString("utf8") }
}

/** The same for whoever takes each piece as it comes. */
const pass = (taker: (piece: Buffer) => void, largestBytes: number, tooMuch: () => void): Collector => {
  let room = largestBytes
  const take = (piece: Buffer): undefined => {
    room -= piece.length
    if (room >= 0) taker(piece)
    else tooMuch()
  }
  return { take, text: () => "" }
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MB`

/** Undefined: it got to its end. */
const failureOf = (
  { largestMemoryBytes = 0, program }: ProgramRequest,
  ending: Ending,
  reads = ""
): ProgramFailed | undefined => {
  const reason = reasonOf(ending)
  if (reason === undefined) return undefined
  switch (ending._tag) {
    case "Exit": {
      const said = ending.stderr.trim().slice(0, 500)
      const cause =
        reason === "memory" ? `it needed more than ${megabytes(largestMemoryBytes)} of memory (${said})` : said
      return new ProgramFailed({ program, reason, cause })
    }
    case "Signal":
      return new ProgramFailed({ program, reason, cause: `${ending.signal} ended it` })
    case "Late": {
      const how = reason === "busy" ? ", though it worked all the time" : ""
      const seconds = ending.timeoutMs / 1000
      return new ProgramFailed({ program, reason, cause: `it did not end within ${seconds} s${how}${reads}` })
    }
  }
}

/** A disk that does not answer must not keep the news that a program is late. */
const whatItReads = (pid: number): Effect.Effect<string> =>
  Effect.promise(() => largestOpenFile(pid)).pipe(
    Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.undefined }),
    Effect.map((open) => (open === undefined ? "" : `; it was reading ${open.path} (${open.sizeBytes} bytes)`))
  )

/** Fails when the time of the program is over. */
const untilLate = Effect.fnUntraced(function* (
  request: ProgramRequest,
  pid: () => number | undefined
): Effect.fn.Return<never, ProgramFailed> {
  const { timeoutMs = 120_000 } = request
  yield* Effect.sleep(timeoutMs)
  const id = pid()
  const workedMs = id === undefined ? undefined : yield* Effect.promise(() => workedMsOf(id))
  const reads = id === undefined ? "" : yield* whatItReads(id)
  const failure = failureOf(request, { _tag: "Late", timeoutMs, workedMs }, reads)
  return yield* failure === undefined ? Effect.never : Effect.fail(failure)
})

/** Not left to the system, for which an empty or relative folder of a `PATH` is one below the directory of the request. */
const lookUp = ({ environment, program }: ProgramRequest): Effect.Effect<string, ProgramFailed> =>
  program.includes("/")
    ? Effect.succeed(program)
    : Effect.flatMap(findProgram(program, environment), (path) =>
        path === undefined
          ? new ProgramFailed({ program, reason: "not-found", cause: `there is no program ${program} on the PATH` })
          : Effect.succeed(path)
      )

const wordsOf = ({ args, largestMemoryBytes }: ProgramRequest, path: string): ReadonlyArray<string> =>
  largestMemoryBytes === undefined ? [path, ...args] : withMemoryLimit(largestMemoryBytes, [path, ...args])

const run = (request: ProgramRequest, path: string, onStart: (program: Program) => void) =>
  Effect.callback<ProgramOutput, ProgramFailed>((resume) => {
    const { cutsOutput = false, largestOutputBytes = defaultOutputBytes, program, take } = request
    const [command = path, ...args] = wordsOf(request, path)
    const texts = () => ({ stdout: stdout.text(), stderr: stderr.text() })
    const tooMuch = () => {
      const cause = `it wrote more than ${largestOutputBytes} bytes`
      const outcome = Effect.suspend(() =>
        cutsOutput
          ? Effect.succeed({ exitCode: 0, ...texts(), isCut: true as const })
          : Effect.fail(new ProgramFailed({ program, reason: "output", cause }))
      )
      resume(Effect.andThen(end(started), outcome))
    }
    const stdout = take === undefined ? collect(largestOutputBytes, tooMuch) : pass(take, largestOutputBytes, tooMuch)
    const stderr = collect(Math.min(largestOutputBytes, defaultOutputBytes), tooMuch)
    const words = {
      ...{ command, args, directory: request.directory, environment: request.environment },
      input: request.input ?? ""
    }
    // What is taken piece by piece is much, and would be copied once more on its way through another process.
    const start = take === undefined ? startProgram : startHere
    const started = start(words, { output: stdout.take, errors: stderr.take })
    onStart(started)
    started.closed.then(
      (how) => {
        const output = texts()
        const hasMemoryLimit = request.largestMemoryBytes !== undefined
        const failure = failureOf(
          request,
          typeof how === "number"
            ? { _tag: "Exit", exitCode: how, stderr: output.stderr, hasMemoryLimit }
            : { _tag: "Signal", signal: how }
        )
        resume(failure ?? Effect.succeed({ exitCode: typeof how === "number" ? how : 1, ...output }))
      },
      (cause) => resume(Effect.fail(notStarted(program, cause)))
    )
    return end(started)
  })

/**
 * Runs a program to its end and gives its exit code and everything it wrote, up to the limit of the request. When the fiber is
 * interrupted or the time is over, the program and its process group are ended. Fails with
 * `ProgramFailed`; the reason `not-found` also stands for a directory that does not exist.
 *
 * @example runProgram({ program: "ps", args: ["-A"], environment: { PATH: "/bin:/usr/bin" } })
 */
export const runProgram = Effect.fn("runProgram")(function* (request: ProgramRequest) {
  const path = yield* lookUp(request)
  let started: Program | undefined
  const output = run(request, path, (program) => {
    started = program
  })
  return yield* Effect.raceFirst(
    output,
    untilLate(request, () => started?.pid())
  )
})
