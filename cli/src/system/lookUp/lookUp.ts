/** The current views of runs, sessions and questions, from the services that own them. */
import { Messenger, type QueryFailed } from "@reprise/actor"
import {
  EscalationId,
  type EscalationLine,
  type EscalationView,
  isKey,
  RunId,
  type RunLine,
  type RunView,
  SessionId,
  type SessionView,
  type WorkspaceView
} from "@reprise/protocol"
import { wholeOf } from "@reprise/session-manager/readTranscript"
import { Effect } from "effect"
import { type CliFailure, missing, wrongUse } from "../../terminal/CliFailure.ts"
import { isOver } from "../../views/ended.ts"

export const unknownRun = (run: string) =>
  wrongUse(
    "unknown-run",
    `There is no run '${run.slice(0, 80)}'.`,
    "'reprise status' lists the runs of this repository."
  )

const unknownQuestion = (id: string) =>
  wrongUse("unknown-question", `There is no question '${id.slice(0, 80)}'.`, "'reprise gate list' lists the open ones.")

const unknownSession = (id: string) =>
  wrongUse("unknown-session", `There is no session '${id.slice(0, 80)}'.`, "'reprise sessions list' lists them.")

const unanswered = (failed: QueryFailed) => missing(failed.code, failed.message, failed.hint, failed)

/** The view of an id that a user typed; an unknown id is wrong use. */
const showTyped = Effect.fnUntraced(function* <View>(
  id: string,
  unknown: (id: string) => CliFailure,
  show: (messenger: Messenger["Service"]) => Effect.Effect<View, QueryFailed>
) {
  if (!isKey(id)) return yield* unknown(id)
  return yield* show(yield* Messenger).pipe(
    Effect.mapError((failed) => (failed.code === "not-found" ? unknown(id) : unanswered(failed)))
  )
})

export const findRun = (id: string) => showTyped(id, unknownRun, ({ show }) => show.orchestrator(RunId.make(id)))

export const findQuestion = (id: string) =>
  showTyped(id, unknownQuestion, ({ show }) => show.gate(EscalationId.make(id)))

export const findSession = (id: string) =>
  showTyped(id, unknownSession, ({ show }) => show.sessionManager(SessionId.make(id)))

const listed = <View>(list: (messenger: Messenger["Service"]) => Effect.Effect<ReadonlyArray<View>, QueryFailed>) =>
  Effect.flatMap(Messenger, list).pipe(Effect.mapError(unanswered))

export const allRuns: Effect.Effect<ReadonlyArray<RunView>, CliFailure, Messenger> = listed(({ list }) =>
  list.orchestrator()
)
/** What a line of a list shows of them. */
export const runLines: Effect.Effect<ReadonlyArray<RunLine>, CliFailure, Messenger> = listed(({ lines }) =>
  lines.orchestrator()
)
export const openQuestionLines: Effect.Effect<ReadonlyArray<EscalationLine>, CliFailure, Messenger> = listed(
  ({ lines }) => lines.gate({ state: "open" })
)
export const allSessions: Effect.Effect<ReadonlyArray<SessionView>, CliFailure, Messenger> = listed(({ list }) =>
  list.sessionManager()
)
export const allQuestions: Effect.Effect<ReadonlyArray<EscalationView>, CliFailure, Messenger> = listed(({ list }) =>
  list.gate()
)
export const allWorkspaces: Effect.Effect<ReadonlyArray<WorkspaceView>, CliFailure, Messenger> = listed(({ list }) =>
  list.workspace()
)

/** The session of a run whose turn waits for the model's vendor. */
export const findPostponed = (run: string) =>
  Effect.map(allSessions, (sessions) =>
    sessions.find(({ postponed, runId }) => String(runId) === run && postponed !== undefined)
  )

/** The session has ended, and its host has not yet put its conversation into the archive. */
export const awaitsArchive = ({ runtimeSessionId, status, transcript }: SessionView): boolean =>
  (status === "expired" || status === "completed" || status === "aborted") &&
  runtimeSessionId !== undefined &&
  (transcript === undefined || wholeOf(transcript) !== transcript)

/** Something was said in the session since its conversation was saved. */
export const awaitsSaving = (session: SessionView): boolean =>
  !isOver(session) &&
  session.runtimeSessionId !== undefined &&
  session.turnId === undefined &&
  session.messages > 0 &&
  (session.savedAt === undefined || session.savedAt < session.lastActivityAt)
