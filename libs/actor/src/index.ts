/** The actor runtime: durable actors, long work, and the messenger for everything else (`DESIGN.md`: one page). */
export * from "./Actor.ts"
export { ActorConfig, type ActorSettings } from "./ActorConfig.ts"
export { actorLayer } from "./actorLayer.ts"
export {
  Broker,
  type BrokerShape,
  type Bucket,
  type ConsumerSpec,
  type Delivered,
  drain,
  type EventsFrom,
  type Message,
  type QueryHandler,
  type StoredMessage
} from "./broker/Broker.ts"
export { BrokerFault, BrokerFull, Conflict } from "./broker/faults.ts"
export { DeadLetter } from "./DeadLetter.ts"
export type { HostNeed } from "./health/HostNeed.ts"
export { type JournalEntry, readEntry } from "./JournalEntry.ts"
export { JetStreamBroker } from "./jetstream/JetStreamBroker.ts"
export { remoteConnection } from "./jetstream/remoteConnection.ts"
export { Messenger } from "./Messenger.ts"
export { MemoryBroker } from "./memory/MemoryBroker.ts"
export { type AskOptions, NoAnswer, Refused, type RefusedBy } from "./messenger/ask.ts"
export { NotReplayable, type StoredDeadLetter } from "./messenger/deadLetters.ts"
export type { EventsOptions, SeenEvent } from "./messenger/events.ts"
export { QueryFailed } from "./messenger/queries.ts"
export { SendFailed, type SendOptions } from "./messenger/send.ts"
export { lagMetrics, MeasuredConsumers } from "./metrics/lagMetrics.ts"
export { metrics } from "./metrics/metrics.ts"
export { storedMetrics } from "./metrics/storedMetrics.ts"
export { NewId } from "./newId.ts"
export { type ActorReplay, replayActor } from "./replay/replayActor.ts"
export { type ReplayDifference, type Replayed, replayJournal, type StoredEntry } from "./replay/replayJournal.ts"
export { HostTaken } from "./runtime/claimHost.ts"
export { type PullLimit, smallestLimit } from "./runtime/PullLimit.ts"
export { serveStoredViews } from "./runtime/serveQueries.ts"
export { type WorkContext, type Worker, WorkFault, WorkPostponed, workerLayer } from "./workerLayer.ts"
