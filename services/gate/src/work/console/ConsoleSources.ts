/** What the console shows besides the views of the services: it lies on this machine, and the command knows where. */
import type { Conversation } from "@reprise/agent/message"
import {
  ApiError,
  type ConsoleChanges,
  type ConsoleDryRun,
  type ConsoleEvent,
  type ConsolePlan,
  type ConsoleRunRequest,
  type ConsoleSetting,
  type ConsoleStart,
  type ConsoleStarted,
  type ConsoleText,
  type EscalationView,
  type PublicEvent,
  type SessionView
} from "@reprise/protocol"
import { Context, type Effect, Schema } from "effect"
import type { NamedAgent } from "../../namedAgent.ts"

/** It cannot be shown, and why. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", ApiError.fields) {}

/** What was wanted is wrong, or something that it needs is missing: asked again it fails again. */
export class NotPossible extends Schema.TaggedError<NotPossible>()("NotPossible", ApiError.fields) {}

export class ConsoleSources extends Context.Service<
  ConsoleSources,
  {
    /** The conversation of a session. */
    readonly conversation: (session: SessionView) => Effect.Effect<Conversation, Unavailable>
    /** The work that a question is about. */
    readonly changes: (question: EscalationView) => Effect.Effect<ConsoleChanges, Unavailable>
    /** The logs of the quality gates that failed before the question. */
    readonly gateLogs: (question: EscalationView) => Effect.Effect<ReadonlyArray<ConsoleText>>
    /** What the agent will be told, if a human says this with an answer. */
    readonly preview: (question: EscalationView, guidance: string) => string
    /** Fails, with the next step, where the agent that an answer names cannot take over on this machine. */
    readonly requireAgent: (question: EscalationView, named: NamedAgent) => Effect.Effect<void, Unavailable>
    /** The plans of the repository. */
    readonly plans: Effect.Effect<ReadonlyArray<ConsolePlan>>
    readonly dryRun: (wanted: ConsoleRunRequest) => Effect.Effect<ConsoleDryRun, NotPossible | Unavailable>
    /** Starts a run, once for each command id. */
    readonly start: (wanted: ConsoleStart) => Effect.Effect<ConsoleStarted, NotPossible | Unavailable>
    /** What runs here are started with, and where each setting was read. */
    readonly settings: Effect.Effect<ReadonlyArray<ConsoleSetting>, Unavailable>
    readonly describe: (event: PublicEvent) => Pick<ConsoleEvent, "line" | "isDetail">
    /** Who answers: the user that runs the console. */
    readonly user: string
  }
>()("@reprise/gate/ConsoleSources") {}
