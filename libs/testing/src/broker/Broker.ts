import { Context, type Effect, Schema } from "effect"

/** A broker for tests did not do what it was told. Keeps the operation and what the driver said. */
export class TestBrokerError extends Schema.TaggedError<TestBrokerError>()("TestBrokerError", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The broker for tests failed to ${this.operation}: ${why}`
  }
}

/** A real nats-server with JetStream on disk, and what a test can do to it. */
export interface TestBroker {
  readonly kind: "local" | "container"
  /** The server's version, as it announces it. */
  readonly version: string
  /** `nats://127.0.0.1:PORT`: stays the same through every verb below. */
  readonly url: string
  /** The server's process on this machine; after a restart another one. */
  readonly pid: Effect.Effect<number, TestBrokerError>
  /** Ends the server with SIGKILL; it stays down, its data stays. */
  readonly kill: Effect.Effect<void, TestBrokerError>
  /** Starts a server that was killed, on the same data; completes once JetStream answers. */
  readonly start: Effect.Effect<void, TestBrokerError>
  /** Stops the server in its own time and starts it again on the same data. */
  readonly restart: Effect.Effect<void, TestBrokerError>
  /** Sends the server into lame-duck mode, where it ends one connection after the other, and then itself; starts it again. */
  readonly retire: Effect.Effect<void, TestBrokerError>
  /** Freezes the server: it keeps its connections and answers nothing. */
  readonly pause: Effect.Effect<void, TestBrokerError>
  /** Thaws a frozen server. */
  readonly resume: Effect.Effect<void, TestBrokerError>
  /** Partitions all clients from the server: connections stay open, new ones are accepted, and nothing gets through. */
  readonly cut: Effect.Effect<void>
  /** Ends the partition: messages that were under way arrive. */
  readonly heal: Effect.Effect<void>
}

/** The broker of a test. Layers: `localBroker`, `containerBroker`. */
export class Broker extends Context.Service<Broker, TestBroker>()("testing/Broker") {}

export interface BrokerOptions {
  /** More of the server's own configuration, for example accounts and permissions. */
  readonly settings?: string
  /** A directory that exists, for everything that it stores. Default: a temporary one. A container has its own. */
  readonly storeDirectory?: string
}
