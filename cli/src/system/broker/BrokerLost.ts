import { Schema } from "effect"

/** The process that ran the broker, or did the work, has ended. Everything stored is kept; another process may continue. */
export class BrokerLost extends Schema.TaggedError<BrokerLost>()("BrokerLost", { directory: Schema.String }) {
  override get message() {
    return `The Reprise process that worked in ${this.directory} has ended. No data is lost: run the command again.`
  }
}

export const isBrokerLost = (error: unknown): error is BrokerLost => error instanceof BrokerLost
