/** Reading public events. */
import {
  type Key,
  type MessageMeta,
  type PublicEvent,
  type PublicEventType,
  type RunId,
  type ServiceName,
  subjects as subjectsOf
} from "@reprise/protocol"
import { Effect, Result, Stream } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape, EventsFrom, StoredMessage } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { readEvent, readMeta } from "../wire.ts"

/** Which events to read; what is left out does not narrow them. */
export interface EventsOptions {
  readonly runId?: RunId | Key
  readonly services?: ReadonlyArray<ServiceName>
  readonly types?: ReadonlyArray<PublicEventType>
  readonly from: EventsFrom
}

/** One public event with its place in the event stream. */
export interface SeenEvent {
  readonly sequence: number
  readonly meta: MessageMeta
  readonly event: PublicEvent
}

export type ReadEvents = (options: EventsOptions) => Stream.Stream<SeenEvent, BrokerFault>

const subjectPattern = (subject: string) => subject.replaceAll(".", "\\.").replaceAll("*", "[^.]+")

/** The event of a stored message; none when it is of a newer version, breaks the protocol, or its body is lost. */
const readStored = ({ body, header, sequence }: StoredMessage) =>
  Effect.map(
    Effect.catchTag(body, "BodyLost", () => Effect.succeed("")),
    (text) =>
      Result.flatMap(readMeta(header), (meta) =>
        Result.map(readEvent(meta.type, text), (event): SeenEvent => ({ sequence, meta, event }))
      )
  )

export const makeReadEvents =
  (broker: BrokerShape, { prefix }: ActorSettings): ReadEvents =>
  ({ from, runId, services, types }) => {
    const subjects = subjectsOf(prefix)
    const patterns = (services ?? ["*" as const]).flatMap((service) =>
      (types ?? ["*"]).map((type) => subjects.events(service, runId ?? "*", type))
    )
    // A server that knows one filter per consumer gives every event.
    const wanted = new RegExp(`^(?:${patterns.map(subjectPattern).join("|")})$`)
    return broker.follow(patterns, from).pipe(
      Stream.filter(({ subject }) => wanted.test(subject)),
      Stream.filterMapEffect(readStored)
    )
  }
