/** What the parts of the JetStream broker share. */
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream"
import type { NatsConnection } from "@nats-io/transport-node"
import {
  attempt,
  type BrokerError,
  jetStreamCode,
  type NatsShape,
  type ServerFeature,
  supports,
  untilAnswered
} from "@reprise/nats"
import type { Subjects } from "@reprise/protocol"
import { Duration, Effect, Exit, Option } from "effect"
import { BrokerFault, BrokerFull } from "../broker/faults.ts"

export interface Connection {
  readonly nats: NatsShape
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  readonly subjects: Subjects
}

export const fault = (operation: string) => (cause: unknown) => new BrokerFault({ operation, cause })

/** How a server refuses to store because the account, or all of JetStream, may use no more space. */
const accountFull: ReadonlyArray<number> = [
  jetStreamCode.accountResourcesExceeded,
  jetStreamCode.storageExceeded,
  jetStreamCode.insufficientResources
]

/** The error of a client that stores something as the port's; its message stays readable as the cause. */
export const faultOf =
  (operation: string) =>
  (error: BrokerError): BrokerFault | BrokerFull =>
    error._tag === "StreamFull" || (error._tag === "JetStreamRefused" && accountFull.includes(error.code))
      ? new BrokerFull({ operation, reason: error.reason })
      : fault(operation)(error)

/** Whether the server that is connected now can do this; an unknown version counts as a new one. */
export const can = ({ nats }: Connection, feature: ServerFeature) =>
  Effect.map(nats.serverVersion, (version) => Option.isNone(version) || supports(version.value, feature))

/** Opens a store once for all who use it. A failure is not kept: whoever needs the store next tries again. */
export const openOnce = <A>(operation: string, open: () => Promise<A>) =>
  Effect.cachedWithTTL(untilAnswered(attempt(operation, open)), (exit) =>
    Exit.isSuccess(exit) ? Duration.infinity : Duration.zero
  )
