/** The Session actor: one per session, keyed by its id. */
import type { Actor } from "@reprise/actor"
import { isStandalone, SessionCommand } from "@reprise/protocol"
import { Schema } from "effect"
import { type GateEvent, type SessionInput, SessionReport, SessionTimer, subscribed } from "../session/inputs.ts"
import { JournalEvent } from "../session/journal.ts"
import { noSession, type Session } from "../session/state.ts"
import type { SessionWork } from "../session/work.ts"
import { defaultSettings, type SessionSettings } from "../settings.ts"
import { decide } from "./decide.ts"
import { evolve } from "./evolve.ts"
import { react } from "./react.ts"
import { viewOf } from "./view.ts"
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
