/** Settings of the actor runtime, one per process. */
import { Host } from "@reprise/protocol"
import { Context, Layer } from "effect"

export interface ActorSettings {
  /** The first token of every subject: one for each tenant. */
  readonly prefix: string
  /** Where this process runs; part of the source of every message. */
  readonly host: Host
  /** An actor's state is written as a snapshot after this many events. */
  readonly snapshotEvery: number
  /** An actor's view is stored at most once in so many milliseconds; `list` of another replica may lag by as much. */
  readonly viewEveryMs: number
  /** An actor that had no input for this long is removed from memory. */
  readonly idleAfterMs: number
  /** How many handled inputs an actor remembers. */
  readonly receiptsKept: number
  /** How many commands, and how many events, a service has under way over all its replicas. */
  readonly maxInFlight: number
  /** A message becomes a dead letter after this many deliveries; a process that dies while it handles it counts too. */
  readonly maxDeliveries: number
  /** A message is delivered again after this long without a heartbeat. */
  readonly ackWaitMs: number
  /** Time between heartbeats; well below `ackWaitMs`. */
  readonly heartbeatMs: number
  /** How often a decision is made again after another process wrote first; then the message is handed back. */
  readonly conflictRetries: number
}

const defaults: ActorSettings = {
  prefix: "reprise",
  host: Host.make("local"),
  snapshotEvery: 100,
  viewEveryMs: 250,
  idleAfterMs: 10 * 60_000,
  receiptsKept: 512,
  maxInFlight: 256,
  maxDeliveries: 20,
  ackWaitMs: 5_000,
  heartbeatMs: 1_500,
  conflictRetries: 10
}

/**
 * @example
 * const config = ActorConfig.layer({ prefix: "reprise", host: Host.make("build-1") })
 */
export class ActorConfig extends Context.Service<ActorConfig, ActorSettings>()("@reprise/actor/ActorConfig") {
  /** The defaults, with `settings` over them. */
  static readonly layer = (settings: Partial<ActorSettings> = {}) =>
    Layer.succeed(ActorConfig, { ...defaults, ...settings })
}
