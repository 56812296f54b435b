/** Settings of the actor runtime, one per process. */
import { Host } from "@reprise/protocol"
import { Context, Layer } from "effect"

export interface ActorSettings {
  /** The tenant's first subject token. */
  readonly prefix: string
  /** Where this process runs; part of the source of every message. */
  readonly host: Host
  /** Events after which an actor's state is written as a snapshot. */
  readonly snapshotEvery: number
  /** An actor untouched for this long leaves the memory. */
  readonly idleAfterMs: number
  /** Handled command ids that an actor remembers. */
  readonly receiptsKept: number
  /** Messages of one kind that a service has under way, over all its replicas. */
  readonly maxInFlight: number
  /** Deliveries after which a message is set aside; a process that dies while it handles one counts. */
  readonly maxDeliveries: number
  /** Without a sign of life for this long, a message is delivered again. */
  readonly ackWaitMs: number
  readonly heartbeatMs: number
  /** Lost races for one journal after which the message is handed back. */
  readonly conflictRetries: number
}

const defaults: ActorSettings = {
  prefix: "reprise",
  host: Host.make("local"),
  snapshotEvery: 100,
  idleAfterMs: 10 * 60_000,
  receiptsKept: 512,
  maxInFlight: 256,
  maxDeliveries: 20,
  ackWaitMs: 5_000,
  heartbeatMs: 1_500,
  conflictRetries: 10
}

export class ActorConfig extends Context.Service<ActorConfig, ActorSettings>()("@reprise/actor/ActorConfig") {
  /** The defaults, with `settings` over them. */
  static readonly layer = (settings: Partial<ActorSettings> = {}) =>
    Layer.succeed(ActorConfig, { ...defaults, ...settings })
}
