/**
 * What the gate's HTTP side and the web console say to each other (docs/console.md). Runs, questions and sessions are
 * the views of the contracts; here is only what the wire adds to them.
 */
import { Effect, Schema } from "effect"
import { PublicEvent } from "./contracts/contracts.ts"
import { Key } from "./ids.ts"

/** Exchanged for a session cookie. */
export const ConsoleSignIn = Schema.Struct({ token: Schema.String })

/** A public event with its place in the event stream. */
export const ConsoleEvent = Schema.Struct({
  sequence: Schema.Int,
  /** ISO 8601 UTC. */
  time: Schema.String,
  event: PublicEvent,
  /** The event for people. What could disguise text is made visible in it. */
  line: Schema.String,
  /** Only for who looks closely: `reprise watch` leaves it out. */
  isDetail: Schema.Boolean
})
export type ConsoleEvent = typeof ConsoleEvent.Type

/** The first message of an event stream. `resumed`: it goes on after the reader's last event, else some may be missed. */
export const ConsoleConnected = Schema.Struct({ resumed: Schema.Boolean })

/** An answer to a question. Sent again with the same `commandId`, it is given once. */
export const ConsoleAnswer = Schema.Struct({
  commandId: Key,
  choice: Schema.String,
  guidance: Schema.optionalKey(Schema.String),
  /** Who is to take over. */
  runtime: Schema.optionalKey(Schema.String),
  model: Schema.optionalKey(Schema.String),
  /** The commit that was shown with the question. */
  commit: Schema.optionalKey(Schema.String)
})
export type ConsoleAnswer = typeof ConsoleAnswer.Type

/** Pauses, resumes or aborts a run. Sent again with the same `commandId`, it is done once. */
export const ConsoleControl = Schema.Struct({
  commandId: Key,
  /** For pause: interrupts the turn. */
  now: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** For abort. */
  reason: Schema.optionalKey(Schema.String)
})
export type ConsoleControl = typeof ConsoleControl.Type

/** `done`: the service has confirmed it. `pending`: it is stored, and will be done. */
export const ConsoleOutcome = Schema.Struct({ state: Schema.Literals(["done", "pending"]) })
export type ConsoleOutcome = typeof ConsoleOutcome.Type

export const ConsolePreviewRequest = Schema.Struct({ guidance: Schema.String })
/** What the agent's next prompt says of an answer, word for word. */
export const ConsolePreview = Schema.Struct({ text: Schema.String })

/** A long text; `omitted`: how many characters were left out. */
export const ConsoleText = Schema.Struct({ name: Schema.String, text: Schema.String, omitted: Schema.Int })
export type ConsoleText = typeof ConsoleText.Type

/** The work of a phase so far. */
export const ConsoleChanges = Schema.Struct({
  /** One line each, newest first. */
  commits: Schema.Array(Schema.String),
  untracked: Schema.Array(Schema.String),
  /** A unified diff, as git writes it. */
  patch: ConsoleText
})
export type ConsoleChanges = typeof ConsoleChanges.Type
