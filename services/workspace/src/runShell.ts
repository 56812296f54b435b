/** Runs one configured command in a workspace, its whole output in a log file (workspace: Quality gates). */
import type { GateResult } from "@reprise/protocol"
import { Clock, Effect } from "effect"
import { childEnvironment } from "./domain/childEnvironment.ts"
import { addOutput, emptyWindow, windowText } from "./domain/OutputWindow.ts"
import { follow } from "./runProcess.ts"
import { type FileError, type Log, WorkspaceFiles } from "./WorkspaceFiles.ts"

export interface ShellRequest {
  /** For `sh -c`. */
  readonly command: string
  readonly directory: string
  /** Holds `.reprise`. */
  readonly root: string
  /** Relative to `root`. */
  readonly logPath: string
  readonly timeoutMs: number
}

const windowBytes = 2_048

/** Writes until the disk refuses; after that the output is still read, so that the command can end. */
const makeRecorder = (log: Log) => {
  let window = emptyWindow(windowBytes)
  let broken: FileError | undefined
  return {
    take: (chunk: Uint8Array) =>
      Effect.suspend(() => {
        window = addOutput(window, chunk)
        if (broken !== undefined) return Effect.void
        return log.write(chunk).pipe(
          Effect.catch((error) =>
            Effect.sync(() => {
              broken = error
            })
          )
        )
      }),
    /** Fails if any of the output was not written. */
    finish: Effect.suspend(() => (broken === undefined ? log.flush : Effect.fail(broken))).pipe(
      Effect.map(() => windowText(window))
    )
  }
}

/**
 * Gives the result of the command, whatever it was: one that cannot start has no exit code and the reason as its
 * output. Fails only when the log cannot be written. Interrupted, it ends the command's process group.
 */
export const runShell = Effect.fn("runShell")(function* (request: ShellRequest) {
  const files = yield* WorkspaceFiles
  const log = yield* files.createLog(request.root, request.logPath)
  const recorder = makeRecorder(log)
  const startMs = yield* Clock.currentTimeMillis
  const ended = yield* follow(
    { script: request.command, directory: request.directory, environment: childEnvironment(process.env) },
    request.timeoutMs,
    recorder.take
  ).pipe(
    Effect.scoped,
    Effect.catchTag("PlatformError", (error) =>
      recorder
        .take(new TextEncoder().encode(`The command could not start: ${error.message}\n`))
        .pipe(Effect.as({ exitCode: null, timedOut: false }))
    )
  )
  const shown = yield* recorder.finish
  return {
    command: request.command,
    exitCode: ended.exitCode,
    durationMs: (yield* Clock.currentTimeMillis) - startMs,
    timedOut: ended.timedOut,
    logRef: request.logPath,
    ...shown
  } satisfies GateResult
}, Effect.scoped)
