/** The contracts of all services, and the types and look-ups that follow from them. */
import { Schema } from "effect"
import type { Key, ServiceName } from "../ids.ts"
import type { Outcome } from "./Contract.ts"
import { gate, gateEvents } from "./escalation.ts"
import { CommandRefused } from "./fields.ts"
import { reviewer, reviewerEvents } from "./review.ts"
import { orchestrator, orchestratorEvents } from "./run.ts"
import { sessionManager, sessionManagerEvents } from "./session.ts"
import { workspace, workspaceEvents } from "./workspace.ts"

/**
 * One contract for each service, by the service's name. Everything typed about messages between services comes from
 * here: `to`, `PublicEvent`, refusal codes, the views of `Messenger.show`.
 *
 * @example
 * contracts["session-manager"].refusals // the codes of its refusals
 */
export const contracts = {
  orchestrator,
  "session-manager": sessionManager,
  reviewer,
  gate,
  workspace
} as const satisfies {
  readonly [Service in ServiceName]: { readonly service: Service }
}
type Contracts = typeof contracts

/** Every public event, whichever service publishes it. */
export const PublicEvent = Schema.TaggedUnion({
  ...orchestratorEvents,
  ...sessionManagerEvents,
  ...reviewerEvents,
  ...gateEvents,
  ...workspaceEvents,
  CommandRefused
})
export type PublicEvent = typeof PublicEvent.Type
export type PublicEventType = PublicEvent["_tag"]

export type IdOf<Service extends ServiceName> = Contracts[Service]["key"]["Type"]
export type CommandOf<Service extends ServiceName> = Contracts[Service]["commands"]["Type"]
export type EventOf<Service extends ServiceName> = Contracts[Service]["events"]["Type"]
export type ViewOf<Service extends ServiceName> = Contracts[Service]["view"]["Type"]
export type RefusalCode<Service extends ServiceName = ServiceName> = Contracts[Service]["refusals"][number]

/** The commands of a service that `Messenger.ask` takes: those with an outcome. */
export type Askable<Service extends ServiceName> = Extract<
  CommandOf<Service>,
  { readonly _tag: keyof Contracts[Service]["outcomes"] }
>

type OutcomeTypes<Outcomes, Type> = Type extends keyof Outcomes
  ? Outcomes[Type] extends Outcome<infer Event>
    ? Event
    : never
  : never

/** The events that answer a command of this type. */
export type OutcomeOf<Service extends ServiceName, Type extends string> = Extract<
  EventOf<Service>,
  { readonly _tag: OutcomeTypes<Contracts[Service]["outcomes"], Type> }
>

/** Which events answer a command of this type; undefined: none does, so `ask` does not take it. */
export const outcomeOf = (service: ServiceName, type: string): Outcome<string> | undefined => {
  const outcomes: Readonly<Record<string, Outcome<string>>> = contracts[service].outcomes
  return outcomes[type]
}

/** The ids of the run and the actor, which the subject and envelope give, so that the body may leave them out. */
export const idsAround = (service: ServiceName, key: Key, run: string): Readonly<Record<string, string>> => {
  const { keyField } = contracts[service]
  return { runId: run, ...(keyField === undefined ? {} : { [keyField]: key }) }
}
