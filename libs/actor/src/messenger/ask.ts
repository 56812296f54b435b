/** Sending a command and waiting for the event that answers it. */
import {
  type Addressed,
  type Askable,
  contracts,
  type OutcomeOf,
  outcomeOf,
  type PublicEvent,
  type RefusalCode,
  type ServiceName
} from "@reprise/protocol"
import { Clock, type Duration, Effect, Option, Schema, Stream } from "effect"
import type { BrokerFault } from "../broker/faults.ts"
import type { ReadEvents, SeenEvent } from "./events.ts"
import { runIdOf, type Send, type SendFailed, type SendOptions } from "./send.ts"

/** The service answered a command with `CommandRefused`. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  command: Schema.String,
  /** One of the service's refusal codes; `other` where an older version of the service gave none. */
  code: Schema.String,
  /** A sentence with the next step. */
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}
export type RefusedBy<Service extends ServiceName> = Refused & { readonly code: RefusalCode<Service> | "other" }

/** The command is stored, and no event answered it in time: its service does not run, or is still at work. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  service: Schema.String,
  command: Schema.String
}) {
  override get message() {
    return `The ${this.service} has not answered ${this.command} yet. The command is stored and will be handled.`
  }
}

export interface AskOptions extends SendOptions {
  /** How long to wait for the answer. Default: 30 seconds. */
  readonly timeout?: Duration.Input
  /** ISO time from which answers count. Default: a second before now. Give an earlier one to ask the same command again. */
  readonly since?: string
}

export type Ask = <Service extends ServiceName, Command extends Askable<Service>>(
  addressed: Addressed<Service, Command>,
  options?: AskOptions
) => Effect.Effect<OutcomeOf<Service, Command["_tag"]>, RefusedBy<Service> | NoAnswer | SendFailed | BrokerFault>

const addressFields = new Set(["runId", "phase", "sessionId", "turnId", "escalationId"])

/** Whether an event is about what the command addresses: no id in it differs from the command's. */
const isAbout = (event: PublicEvent, { command, key, service }: Addressed): boolean => {
  const { keyField } = contracts[service]
  const named = new Map<string, unknown>(Object.entries(command))
  if (keyField !== undefined) named.set(keyField, key)
  return Object.entries(event).every(
    ([name, value]) => !addressFields.has(name) || !named.has(name) || named.get(name) === value
  )
}

/** Whether an event answers the command that was sent with this id, by the outcome that the contract names. */
const isAnswer = (addressed: Addressed, id: string) => {
  const outcome = outcomeOf(addressed.service, addressed.command._tag)
  return ({ event, meta }: SeenEvent): boolean => {
    const isOutcome = outcome?.events.includes(event._tag) === true
    if (meta.causation === id) return isOutcome || event._tag === "CommandRefused"
    return isOutcome && outcome?.cause === "any" && isAbout(event, addressed)
  }
}

export const makeAsk = (send: Send, events: ReadEvents): Ask => {
  const ask = Effect.fn("Messenger.ask")(function* (addressed: Addressed, options: AskOptions = {}) {
    const { command, key, service } = addressed
    const now = yield* Clock.currentTimeMillis
    const since = options.since ?? new Date(now - 1000).toISOString()
    const { id } = yield* send(addressed, options)
    const runId = options.subject ?? runIdOf(command, key)
    const answer = yield* events({ runId, services: [service], from: { since } }).pipe(
      Stream.filter(isAnswer(addressed, id)),
      Stream.runHead,
      Effect.timeoutOption(options.timeout ?? "30 seconds"),
      Effect.map(Option.flatten)
    )
    if (Option.isNone(answer)) return yield* new NoAnswer({ service, command: command._tag })
    const { event } = answer.value
    if (event._tag !== "CommandRefused") return event
    return yield* new Refused({ command: event.command, code: event.code ?? "other", reason: event.reason })
  })
  // The answer is one of the outcomes that the contract names for the command.
  return ask as Ask
}
