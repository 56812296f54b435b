/** What the parts of the JetStream broker share. */
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream"
import type { NatsConnection } from "@nats-io/transport-node"
import type { BrokerError, NatsShape, ServerFeature } from "@reprise/nats"
import { supports } from "@reprise/nats"
import type { Subjects } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { BrokerFault, BrokerFull } from "../broker/faults.ts"

export interface Connection {
  readonly nats: NatsShape
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  readonly subjects: Subjects
}

export const fault = (operation: string) => (cause: unknown) => new BrokerFault({ operation, cause })

/** A client's error as the port's; its message stays readable as the cause. */
export const faultOf =
  (operation: string) =>
  (error: BrokerError): BrokerFault | BrokerFull =>
    error._tag === "StreamFull" ? new BrokerFull({ operation, reason: error.reason }) : fault(operation)(error)

/** Whether the server that is connected now can do this; an unknown version counts as a new one. */
export const can = ({ nats }: Connection, feature: ServerFeature) =>
  Effect.map(nats.serverVersion, (version) => Option.isNone(version) || supports(version.value, feature))
