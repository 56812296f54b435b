/** All contracts by service, and the types that follow from them. */
import { Schema } from "effect"
import type { Key } from "../ids.ts"
import type { ServiceName } from "../services.ts"
import type { Outcome } from "./Contract.ts"
import { CommandRefused } from "./eventFields.ts"
import { gate, gateEvents } from "./gate.ts"
import { orchestrator, orchestratorEvents } from "./orchestrator.ts"
import { reviewer, reviewerEvents } from "./reviewer.ts"
import { sessionManager, sessionManagerEvents } from "./sessionManager.ts"
import { workspace, workspaceEvents } from "./workspace.ts"

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

/** The commands of a service that can be asked. */
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

/** Which events answer a command of this type; undefined: it cannot be asked. */
export const outcomeOf = (service: ServiceName, type: string): Outcome<string> | undefined => {
  const outcomes: Readonly<Record<string, Outcome<string>>> = contracts[service].outcomes
  return outcomes[type]
}

/** What a message's subject and envelope say already, so that its body need not: the ids of its run and its actor. */
export const idsAround = (service: ServiceName, key: Key, run: string): Readonly<Record<string, string>> => {
  const { keyField } = contracts[service]
  return { runId: run, ...(keyField === undefined ? {} : { [keyField]: key }) }
}
