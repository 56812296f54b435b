/** Runs, sessions and questions as the services that own them describe them now. */
import { Messenger } from "@reprise/actor"
import { EscalationView, isKey, type RunId, RunView, type ServiceName, SessionView } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { type CliFailure, missing, wrongUse } from "../terminal/CliFailure.ts"

const decodeRun = Schema.decodeUnknownEffect(RunView)
const decodeQuestion = Schema.decodeUnknownEffect(EscalationView)
const decodeSession = Schema.decodeUnknownEffect(SessionView)

export const showRun = Effect.fnUntraced(function* (runId: RunId) {
  const messenger = yield* Messenger
  return yield* decodeRun(yield* messenger.query("orchestrator", "show", { id: runId })).pipe(Effect.orDie)
})

export const showQuestion = Effect.fnUntraced(function* (escalationId: string) {
  const messenger = yield* Messenger
  return yield* decodeQuestion(yield* messenger.query("gate", "show", { id: escalationId })).pipe(Effect.orDie)
})

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

/** The reply to a query by an id that a user typed; an unknown id is wrong use. */
const showTyped = Effect.fnUntraced(function* (service: ServiceName, id: string, unknown: (id: string) => CliFailure) {
  if (!isKey(id)) return yield* unknown(id)
  const messenger = yield* Messenger
  return yield* messenger.query(service, "show", { id }).pipe(
    Effect.catchIf(
      (failed) => failed.code === "not-found",
      () => unknown(id)
    ),
    Effect.catchTag("QueryFailed", (failed) => missing(failed.code, failed.message, failed.hint, failed))
  )
})

export const findRun = Effect.fnUntraced(function* (id: string) {
  return yield* decodeRun(yield* showTyped("orchestrator", id, unknownRun)).pipe(Effect.orDie)
})

export const findQuestion = Effect.fnUntraced(function* (id: string) {
  return yield* decodeQuestion(yield* showTyped("gate", id, unknownQuestion)).pipe(Effect.orDie)
})

export const findSession = Effect.fnUntraced(function* (id: string) {
  return yield* decodeSession(yield* showTyped("session-manager", id, unknownSession)).pipe(Effect.orDie)
})

/** Every view of a service. */
export const listOf = Effect.fnUntraced(function* <A>(service: ServiceName, view: Schema.Codec<A, unknown>) {
  const messenger = yield* Messenger
  const rows = yield* messenger
    .query(service, "list", {})
    .pipe(Effect.mapError((failed) => missing(failed.code, failed.message, failed.hint, failed)))
  return yield* Schema.decodeUnknownEffect(Schema.Array(view))(rows).pipe(
    Effect.mapError(
      (cause): CliFailure =>
        missing(
          "bad-reply",
          `The ${service} sent a reply that this version does not understand.`,
          "Use the same version of Reprise for all processes.",
          cause
        )
    )
  )
})

/** The run has not ended. */
export const isOpenRun = ({ status }: Pick<RunView, "status">): boolean =>
  status === "running" || status === "waiting" || status === "paused"

/** The session has ended. */
export const isOver = ({ status }: SessionView): boolean =>
  status === "expired" || status === "completed" || status === "aborted" || status === "failed"

/** The session has ended, and its host has not yet put its conversation into the archive. */
export const awaitsArchive = ({ runtimeSessionId, status, transcript }: SessionView): boolean =>
  (status === "expired" || status === "completed" || status === "aborted") &&
  runtimeSessionId !== undefined &&
  transcript === undefined
