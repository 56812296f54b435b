/** Archives a finished run or standalone session, then removes it from the broker. Can be repeated after an interruption. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { ActorConfig, Broker } from "@reprise/actor"
import { contracts, type RunView, type SessionView, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { allQuestions, awaitsArchive } from "../../system/lookUp/lookUp.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { isOver } from "../../views/ended.ts"
import { archiveRecord, keepConversations } from "./archive.ts"
import { type ActorName, actorsOf, type RunRecord } from "./RunRecord.ts"

const dayMs = 24 * 60 * 60 * 1000

const isOlder = (iso: string, days: number, nowMs: number): boolean => nowMs - Date.parse(iso) >= days * dayMs

const hasEnded = ({ status }: RunView): boolean => status === "completed" || status === "failed" || status === "aborted"

/** Runs that have ended and have not changed for this many days. */
export const prunableRuns = (runs: ReadonlyArray<RunView>, days: number, nowMs: number): ReadonlyArray<RunView> =>
  runs.filter((run) => hasEnded(run) && isOlder(run.updatedAt, days, nowMs))

/** Standalone sessions that ended, were inactive for this many days, and whose conversation, if any, is archived. */
export const prunableSessions = (sessions: ReadonlyArray<SessionView>, days: number, nowMs: number) =>
  sessions.filter(
    (session) =>
      session.prompt !== undefined &&
      isOver(session) &&
      (session.transcript !== undefined || session.runtimeSessionId === undefined) &&
      !awaitsArchive(session) &&
      isOlder(session.lastActivityAt, days, nowMs)
  )

const streams = ["commands", "work", "timers", "journal"] as const

/** Removes all that is stored for an actor but its view. */
export const purgeState = Effect.fnUntraced(function* ({ key, service }: ActorName) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const owned = subjects(prefix).owned(service, key)
  yield* Effect.forEach(streams, (stream) => broker.purge(stream, owned[stream]), { discard: true })
  yield* broker.snapshots.remove(`${contracts[service].actor}.${key}`)
})

/** The view goes last: as long as it is stored, the actor is found again. */
const purgeActor = Effect.fnUntraced(function* (actor: ActorName) {
  const broker = yield* Broker
  yield* purgeState(actor)
  yield* broker.views.remove(`${actor.service}.${actor.key}`)
})

const purgeEvents = Effect.fnUntraced(function* (runId: string) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  yield* broker.purge("events", subjects(prefix).events("*", runId))
})

const removeLogs = (project: Project, runId: string) =>
  Effect.tryPromise({
    try: () => rm(join(project.directory, "logs", runId), { recursive: true, force: true }),
    catch: (cause) => missing("logs", `The logs of ${runId} cannot be removed.`, "Check their permissions.", cause)
  })

/** Returns the path of the archive. */
export const pruneRun = Effect.fn("pruneRun")(function* (project: Project, record: RunRecord) {
  const { runId } = record.run
  const archive = yield* archiveRecord(project, runId, record)
  yield* keepConversations(project, record.sessions)
  yield* removeLogs(project, runId)
  yield* purgeEvents(runId)
  yield* Effect.forEach(actorsOf(record), purgeActor, { discard: true })
  return archive
})

/** Returns the path of the archive. */
export const pruneSession = Effect.fn("pruneSession")(function* (project: Project, session: SessionView) {
  const { sessionId } = session
  const escalations = (yield* allQuestions).filter(({ runId }) => runId === session.runId)
  const archive = yield* archiveRecord(project, sessionId, { session, escalations })
  yield* keepConversations(project, [session])
  yield* purgeEvents(sessionId)
  for (const { escalationId } of escalations) yield* purgeActor({ service: "gate", key: escalationId })
  // Its run comes before it: as long as the session is stored, the run is found again.
  yield* purgeActor({ service: "orchestrator", key: sessionId })
  yield* purgeActor({ service: "session-manager", key: sessionId })
  return archive
})
