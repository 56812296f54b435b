export * from "./Actor.ts"
export { ActorConfig, type ActorSettings } from "./ActorConfig.ts"
export { actorLayer } from "./actorLayer.ts"
export { Broker, type EventsFrom } from "./broker/Broker.ts"
export { BrokerFault, BrokerFull, Conflict } from "./broker/faults.ts"
export { DeadLetter } from "./DeadLetter.ts"
export { drain } from "./drain.ts"
export { JetStreamBroker } from "./jetstream/JetStreamBroker.ts"
export {
  type AskOptions,
  type EventsOptions,
  Messenger,
  NoAnswer,
  QueryFailed,
  Refused,
  type RefusedBy,
  type SeenEvent,
  SendFailed,
  type SendOptions,
  type StoredLetter
} from "./Messenger.ts"
export { MemoryBroker } from "./memory/MemoryBroker.ts"
export { type WorkContext, type Worker, WorkFault, workerLayer } from "./workerLayer.ts"
