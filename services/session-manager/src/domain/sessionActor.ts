/** The Session actor: one per session, keyed by its id. */
import type { Actor } from "@reprise/actor"
import { isStandalone, type PublicEvent, SessionCommand } from "@reprise/protocol"
import { Schema } from "effect"
import { decide, type SessionInput, subscribed } from "./decide.ts"
import { JournalEvent } from "./events.ts"
import { evolve } from "./evolve.ts"
import { SessionReport, SessionTimer } from "./messages.ts"
import { react } from "./react.ts"
import { noSession, type Session, viewOf } from "./Session.ts"
import { defaultSettings, type SessionSettings } from "./settings.ts"

/** A standalone session's questions carry its id in place of a run's. */
const standaloneOf = ({ runId, sessionId }: PublicEvent) =>
  sessionId !== undefined && isStandalone({ runId, sessionId }) ? sessionId : undefined

export const sessionActor = (
  settings: SessionSettings = defaultSettings
): Actor<Session, SessionInput, JournalEvent> => ({
  service: "session-manager",
  commands: Schema.Union([SessionCommand, SessionReport, SessionTimer]),
  subscription: { types: subscribed, route: standaloneOf },
  journal: JournalEvent,
  initial: noSession,
  decide: decide(settings),
  evolve,
  react: react(settings),
  runOf: (session) => session.details?.runId,
  view: viewOf,
  snapshotVersion: 3
})
