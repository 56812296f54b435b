/** The Session actor: one per session, keyed by its id. */
import type { Actor } from "@reprise/actor"
import { SessionCommand } from "@reprise/protocol"
import { Schema } from "effect"
import { decide, type SessionInput } from "./decide.ts"
import { JournalEvent } from "./events.ts"
import { evolve } from "./evolve.ts"
import { SessionReport, SessionTimer } from "./messages.ts"
import { react } from "./react.ts"
import { noSession, type Session, viewOf } from "./Session.ts"
import { defaultSettings, type SessionSettings } from "./settings.ts"

export const sessionActor = (
  settings: SessionSettings = defaultSettings
): Actor<Session, SessionInput, JournalEvent> => ({
  service: "session-manager",
  commands: Schema.Union([SessionCommand, SessionReport, SessionTimer]),
  journal: JournalEvent,
  initial: noSession,
  decide: decide(settings),
  evolve,
  react: react(settings),
  runOf: (session) => session.details?.runId,
  view: viewOf,
  snapshotVersion: 1
})
