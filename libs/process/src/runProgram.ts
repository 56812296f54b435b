/** Runs a program that ends by itself, such as git, and collects its output. */
import { type ChildProcess, spawn } from "node:child_process"
import { access, constants } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { text } from "node:stream/consumers"
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
}

export interface ProgramOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * The program did not run to its end. A program that ends with an exit code other than 0 did, and is no failure. One that a
 * signal ended did not: a terminal's Ctrl-C can also end a program that is just being started (seen with git).
 */
export class ProgramFailed extends Schema.TaggedError<ProgramFailed>()("ProgramFailed", {
  program: Schema.String,
  reason: Schema.Literals(["not-found", "timeout", "signal", "fault"]),
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

/** `detached` gives the program a session and a process group of its own: no terminal to prompt at, and one id to end all. */
const run = ({ args, directory, environment, input, program }: ProgramRequest) =>
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
    // A program may end without having read its input; how it ended is what counts.
    child.stdin.on("error", () => undefined)
    child.stdin.end(input ?? "")
    Promise.all([closed, text(child.stdout), text(child.stderr)]).then(
      ([ended, stdout, stderr]) =>
        resume(
          typeof ended === "number"
            ? Effect.succeed({ exitCode: ended, stdout, stderr })
            : new ProgramFailed({ program, reason: "signal", cause: `${ended} ended it` })
        ),
      (cause) => resume(Effect.fail(faultOf(program, cause)))
    )
    return end(
      child,
      closed.catch(() => undefined)
    )
  })

/**
 * Runs a program to its end and gives its exit code and everything it wrote, so it is not for output of unknown size.
 * When the fiber is interrupted or the time is over, the program and its process group are ended. Fails with
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
