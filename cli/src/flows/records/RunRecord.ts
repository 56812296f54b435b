/** Everything stored about a finished run, and the actors that it had. */
import { ActorConfig, Broker } from "@reprise/actor"
import {
  decodeMeta,
  type EscalationView,
  type RunView,
  reviewKey,
  type ServiceName,
  type SessionView,
  subjects,
  type WorkspaceView
} from "@reprise/protocol"
import { Effect, Option, Result, Schema } from "effect"
import { allQuestions, allSessions, allWorkspaces, awaitsArchive } from "../../system/lookUp/lookUp.ts"

export interface RunRecord {
  readonly run: RunView
  readonly sessions: ReadonlyArray<SessionView>
  readonly escalations: ReadonlyArray<EscalationView>
  readonly workspaces: ReadonlyArray<WorkspaceView>
}

export const recordsOf = Effect.fn("recordsOf")(function* (runs: ReadonlyArray<RunView>) {
  if (runs.length === 0) return []
  const sessions = yield* allSessions
  const escalations = yield* allQuestions
  const workspaces = yield* allWorkspaces
  return runs.map((run): RunRecord => {
    const isOfRun = ({ runId }: { readonly runId: string }) => runId === run.runId
    return {
      run,
      sessions: sessions.filter(isOfRun),
      escalations: escalations.filter(isOfRun),
      workspaces: workspaces.filter(isOfRun)
    }
  })
})

/**
 * Whether the run has released its workspace, or never got one, and its conversations are archived. A host that has been
 * away since the run ended still has to do so.
 */
export const isAtRest = ({ sessions, workspaces }: RunRecord): boolean =>
  !sessions.some(awaitsArchive) &&
  workspaces.every(
    ({ directory, requests, status }) => status === "released" || (directory === undefined && requests.length === 0)
  )

const decodeObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.JsonObject))

/** The public events of a run as they are stored, including those that this version does not know. */
export const eventsOf = Effect.fn("eventsOf")(function* (runId: string) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const stored = yield* broker.read("events", subjects(prefix).events("*", runId), 0)
  return yield* Effect.forEach(stored, ({ body, header }) =>
    Effect.catchTag(body, "BodyLost", () => Effect.succeed("{}")).pipe(
      Effect.map((text) => {
        const { id, time, type } = Result.getOrElse(decodeMeta(header), () => ({ id: "", time: "", type: "" }))
        // Anybody who may publish events may publish something that is not an event.
        return { type, time, id, ...Option.getOrElse(decodeObject(text), () => ({ unreadable: text })) }
      })
    )
  )
})

export interface ActorName {
  readonly service: ServiceName
  readonly key: string
}

/** The run's own actor comes last: as long as it is stored, the others are found again. */
export const actorsOf = ({ escalations, run, sessions }: RunRecord): ReadonlyArray<ActorName> => {
  const reviewers = sessions.filter(({ role }) => role === "reviewer").map(({ sessionId }) => sessionId)
  const reviews = new Set([
    ...run.phases.map(({ id }) => reviewKey(run.runId, id)),
    // For a phase that was removed from the plan: the reviewer's session is named after the review.
    ...reviewers.map((sessionId) => sessionId.replace(/-s\d+$/, ""))
  ])
  return [
    ...[...reviews].map((key) => ({ service: "reviewer" as const, key })),
    ...sessions.map(({ sessionId }) => ({ service: "session-manager" as const, key: sessionId })),
    ...escalations.map(({ escalationId }) => ({ service: "gate" as const, key: escalationId })),
    { service: "workspace", key: run.runId },
    { service: "orchestrator", key: run.runId }
  ]
}
