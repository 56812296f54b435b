/** What the console shows besides the views of the services: the command that serves it knows where it lies. */
import type { Conversation } from "@reprise/agent/message"
import {
  ApiError,
  type ConsoleChanges,
  type ConsoleDryRun,
  type ConsoleEvent,
  type ConsoleFork,
  type ConsoleForked,
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
import { Context, Effect, Schema } from "effect"
import type { NamedAgent } from "../../namedAgent.ts"

/** It cannot be shown, and why. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", ApiError.fields) {}

/** What was wanted is wrong, or something that it needs is missing: asked again it fails again. */
export class NotPossible extends Schema.TaggedError<NotPossible>()("NotPossible", ApiError.fields) {}

/** What the console shows and starts in the repository that it serves. */
export interface RepositorySources {
  /** The plans of the repository. */
  readonly plans: Effect.Effect<ReadonlyArray<ConsolePlan>>
  readonly dryRun: (wanted: ConsoleRunRequest) => Effect.Effect<ConsoleDryRun, NotPossible | Unavailable>
  /** Starts a run, once for each command id. */
  readonly start: (wanted: ConsoleStart) => Effect.Effect<ConsoleStarted, NotPossible | Unavailable>
  /** Has another session try again from a question, once for each command id. */
  readonly fork: (
    question: EscalationView,
    wanted: ConsoleFork
  ) => Effect.Effect<ConsoleForked, NotPossible | Unavailable>
  /** What runs here are started with, and where each setting was read. */
  readonly settings: Effect.Effect<ReadonlyArray<ConsoleSetting>, Unavailable>
}

export class ConsoleSources extends Context.Service<
  ConsoleSources,
  {
    /** The conversation of a session. */
    readonly conversation: (session: SessionView) => Effect.Effect<Conversation, Unavailable>
    /** The work that a question is about. */
    readonly changes: (question: EscalationView) => Effect.Effect<ConsoleChanges, Unavailable>
    /** The logs of the quality gates that failed before the question. */
    readonly gateLogs: (question: EscalationView) => Effect.Effect<ReadonlyArray<ConsoleText>, Unavailable>
    /** What the agent will be told, if a human says this with an answer. */
    readonly preview: (question: EscalationView, guidance: string) => string
    /** Fails, with the next step, where the agent that an answer names cannot take over on this machine. */
    readonly requireAgent: (question: EscalationView, named: NamedAgent) => Effect.Effect<void, Unavailable>
    /** Absent: the console serves no repository, only the services of a NATS server. */
    readonly repository?: RepositorySources
    readonly describe: (event: PublicEvent) => Pick<ConsoleEvent, "line" | "isDetail">
    /** Who answers: the user that runs the console. */
    readonly user: string
  }
>()("@reprise/gate/ConsoleSources") {}

/** Fails where the console serves no repository. */
export const repositorySources = ConsoleSources.use(({ repository }) =>
  repository === undefined
    ? Effect.fail(
        new NotPossible({
          code: "no-repository",
          message: "This console serves no repository, so it starts no runs.",
          hint: "Run 'reprise run PLAN.md --remote NAME --nats URL' in a clone."
        })
      )
    : Effect.succeed(repository)
)
