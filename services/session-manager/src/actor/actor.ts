/** The Session actor: one per session, keyed by its id. */
import type { Actor } from "@reprise/actor"
import { isStandalone, SessionCommand } from "@reprise/protocol"
import { Schema } from "effect"
import { defaultSettings, type SessionSettings } from "../settings.ts"
import { decide } from "./decide.ts"
import { evolve } from "./evolve.ts"
import { type GateEvent, type SessionInput, SessionReport, SessionTimer, subscribed } from "./inputs.ts"
import { JournalEvent } from "./journal.ts"
import { react } from "./react.ts"
import { noSession, type Session } from "./state.ts"
import { viewOf } from "./view.ts"
import type { SessionWork } from "./work.ts"
import { workOfSession } from "./workOfSession.ts"

/** The questions of a standalone session carry its id as their run's. */
const standaloneOf = (event: GateEvent) => (isStandalone(event) ? event.runId : undefined)

export const sessionActor = (
  settings: SessionSettings = defaultSettings
): Actor<Session, SessionInput, JournalEvent, SessionWork> => ({
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
  workOnHost: workOfSession,
  snapshotVersion: 15
})
