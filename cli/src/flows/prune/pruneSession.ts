/** Standalone sessions that have ended: archived as runs are, and then forgotten. */
import { ActorConfig, Broker } from "@reprise/actor"
import { EscalationView, type SessionView, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { listOf } from "../../system/clientSystem.ts"
import { isOver } from "../../system/findSession.ts"
import { archiveRun } from "./archiveRun.ts"
import { keepConversations } from "./keepConversations.ts"
import { purgeActor } from "./pruneRun.ts"

const dayMs = 24 * 60 * 60 * 1000

/** Those of which nothing was heard for so many days, and whose conversation is kept if there ever was one. */
export const prunableSessions = (sessions: ReadonlyArray<SessionView>, days: number, nowMs: number) =>
  sessions.filter(
    (session) =>
      session.prompt !== undefined &&
      isOver(session) &&
      (session.transcript !== undefined || session.runtimeSessionId === undefined) &&
      nowMs - Date.parse(session.lastActivityAt) >= days * dayMs
  )

/** Gives the path of the archive. Broken off, it can be done again. */
export const pruneSession = Effect.fn("pruneSession")(function* (project: Project, session: SessionView) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const { sessionId } = session
  const escalations = (yield* listOf("gate", EscalationView)).filter(({ runId }) => runId === session.runId)
  const archive = yield* archiveRun(project, sessionId, { session, escalations })
  yield* keepConversations(project, [session])
  yield* broker.purge("events", subjects(prefix).events("*", sessionId))
  for (const { escalationId } of escalations) yield* purgeActor({ service: "gate", key: escalationId })
  yield* purgeActor({ service: "session-manager", key: sessionId })
  return archive
})
