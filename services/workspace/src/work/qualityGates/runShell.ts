/**
 * Runs one configured command in a workspace and keeps its whole output in a log file
 * (docs/design/workspace.md#workspace).
 */
import { commandEnvironment, commandsOfTree, pathFrom } from "@reprise/process"
import type { GateResult, RunId } from "@reprise/protocol"
import { type Decider, Sandbox } from "@reprise/sandbox"
import { Clock, Effect, Ref } from "effect"
import { type FileError, type Log, WorkspaceFiles } from "../files/WorkspaceFiles.ts"
import { runScript, type ScriptEnd } from "../process/runScript.ts"
import { addOutput, emptyWindow, type OutputWindow, windowText } from "./OutputWindow.ts"

export interface ShellRequest {
  readonly runId: RunId
  /** For `sh -c`. */
  readonly command: string
  readonly directory: string
  /** The directory that contains `.reprise`. */
  readonly root: string
  /** Relative to `root`. */
  readonly logPath: string
  readonly timeoutMs: number
  /** Names of variables that it sees beside the usual ones. */
  readonly environment: ReadonlyArray<string>
}

const windowBytes = 2_048

/** More of one command nobody reads. */
const mostRefused = 50

/** `failure`: why the log could not be written; from then on output is only kept in the window. */
interface Recording {
  readonly window: OutputWindow
  readonly failure?: FileError
}

type Recorder = { readonly log: Log; readonly recording: Ref.Ref<Recording> }

const startRecording = (log: Log): Effect.Effect<Recorder> =>
  Effect.map(Ref.make<Recording>({ window: emptyWindow(windowBytes) }), (recording) => ({ log, recording }))

/** Never fails: output is read even after the disk refused to take it, so that the command can end. */
const record = ({ log, recording }: Recorder, chunk: Uint8Array): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { failure } = yield* Ref.updateAndGet(recording, (now) => ({ ...now, window: addOutput(now.window, chunk) }))
    if (failure !== undefined) return
    yield* log
      .write(chunk)
      .pipe(Effect.catch((error) => Ref.update(recording, (now): Recording => ({ ...now, failure: error }))))
  })

/** Gives the beginning and the end of the output. Fails if any of it was not written. */
const finishRecording = ({ log, recording }: Recorder) =>
  Effect.gen(function* () {
    const { failure, window } = yield* Ref.get(recording)
    yield* failure === undefined ? log.flush : Effect.fail(failure)
    return windowText(window)
  })

type Refused = NonNullable<GateResult["refused"]>[number]

/** Collects until the scope closes what the sandbox refuses: commands of the repository's settings raise no question. */
const watchRefused = Effect.fnUntraced(function* (directory: string) {
  const sandbox = yield* Sandbox
  const seen = new Map<string, Refused>()
  const note = (refused: Refused) => {
    if (seen.size < mostRefused) seen.set(`${refused.sandbox} ${refused.text}`, refused)
  }
  const decider: Decider = {
    reach: async ({ host }) => {
      note({ sandbox: "network", text: `network: ${host}` })
      return false
    },
    write: async ({ path }) => {
      note({ sandbox: "write", text: `write: ${path}` })
      return "told"
    }
  }
  yield* sandbox.decide(directory, decider, "gate")
  return Effect.sync(() => (seen.size === 0 ? {} : { refused: [...seen.values()] }))
})

/**
 * Python believes what it compiled before, whatever the source says now, and keeps it beside the source. A gate's `/tmp` is empty,
 * so nothing foreign is found there. Whoever names the variable in `gates.environment` has what they set.
 */
const compiledAnew: Record<string, string> = process.platform === "linux" ? { PYTHONPYCACHEPREFIX: "/tmp/pycache" } : {}

/**
 * A command that is to run in the sandbox does not run without it. What it leaves, if it is killed, goes with the scope. What leads
 * into the repository, where agents write, is only for what runs inside.
 */
const shellFor = Effect.fnUntraced(function* ({ directory, environment, runId }: ShellRequest) {
  const sandbox = yield* Sandbox
  const given = commandEnvironment(process.env, environment)
  const inTree = commandsOfTree(process.env, environment)
  if (!sandbox.coversGates) {
    return { environment: { ...given, ...inTree.variables, PATH: pathFrom(inTree, given["PATH"]) } }
  }
  yield* Effect.addFinalizer(() => Effect.ignore(sandbox.tidy(directory)))
  return { shell: yield* sandbox.gateShell(directory, runId, inTree), environment: { ...compiledAnew, ...given } }
})

const runRecorded = (request: ShellRequest, recorder: Recorder) => {
  const script = { script: request.command, directory: request.directory }
  return shellFor(request).pipe(
    Effect.flatMap((shell) =>
      runScript({ ...script, ...shell }, request.timeoutMs, (chunk) => record(recorder, chunk))
    ),
    Effect.scoped,
    // A signal that ended the shell was not meant for it, as a terminal's Ctrl-C while it was being started.
    Effect.repeat({ while: ({ exitCode, timedOut }) => exitCode === null && !timedOut, times: 1 }),
    Effect.catchTag(["PlatformError", "SandboxFault"], ({ message }) =>
      record(recorder, new TextEncoder().encode(`The command could not start: ${message}\n`)).pipe(
        Effect.as<ScriptEnd>({ exitCode: null, timedOut: false })
      )
    )
  )
}

/**
 * Gives the result of the command, whatever it is: a command that cannot start has no exit code, and its output is the
 * reason. Fails only when the log cannot be written. When it is interrupted, it ends the command's process group.
 */
export const runShell = Effect.fn("runShell")(function* (request: ShellRequest) {
  const files = yield* WorkspaceFiles
  const recorder = yield* startRecording(yield* files.createLog(request.root, request.logPath))
  const startMs = yield* Clock.currentTimeMillis
  const refused = yield* watchRefused(request.directory)
  const { exitCode, timedOut } = yield* runRecorded(request, recorder)
  const shown = yield* finishRecording(recorder)
  return {
    command: request.command,
    exitCode,
    durationMs: (yield* Clock.currentTimeMillis) - startMs,
    timedOut,
    logRef: request.logPath,
    ...shown,
    ...(yield* refused)
  } satisfies GateResult
}, Effect.scoped)
