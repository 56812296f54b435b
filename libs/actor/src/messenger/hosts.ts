/** Asking hosts which there are, and to take no new work (docs/design/protocol.md#subjects-and-streams). */
import { type Host, HostView, type ServiceName, subjects as subjectsOf } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape } from "../broker/Broker.ts"
import { askAt, badReply, type QueryFailed } from "./queries.ts"

export interface Hosts {
  /** The hosts that ever did a service's work. Fails with the code `not-running` where none is there that could say. */
  readonly hosts: (service: ServiceName) => Effect.Effect<ReadonlyArray<HostView>, QueryFailed>
  /**
   * Has a host take no new work of a service, or take it again, and gives what it stored. Asked again, nothing changes.
   * Fails with the code `not-running` where the host does not answer.
   */
  readonly setDrained: (service: ServiceName, host: Host, drained: boolean) => Effect.Effect<HostView, QueryFailed>
}

const decodeOne = Schema.decodeUnknownEffect(HostView)
const decodeAll = Schema.decodeUnknownEffect(Schema.Array(HostView))

export const makeHosts = (broker: BrokerShape, { prefix }: ActorSettings): Hosts => {
  const subjects = subjectsOf(prefix)
  return {
    hosts: (service) =>
      askAt(broker, service, subjects.api(service, "hosts"), {}).pipe(
        Effect.flatMap((data) => Effect.mapError(decodeAll(data), badReply))
      ),
    setDrained: (service, host, drained) =>
      askAt(broker, service, subjects.drain(service, host), { drained }).pipe(
        Effect.flatMap((data) => Effect.mapError(decodeOne(data), badReply))
      )
  }
}
