/** Why an embedded server does not start, or stays down. */
import { Schema } from "effect"

/** A fixed port was configured, and another program listens on it. */
export class PortTaken extends Schema.TaggedError<PortTaken>()("PortTaken", { port: Schema.Int }) {
  override get message() {
    return `Another program listens on port ${this.port} of this machine. Stop it, choose another port, or leave the port out to get a free one.`
  }
}

export class ServerDidNotStart extends Schema.TaggedError<ServerDidNotStart>()("ServerDidNotStart", {
  reason: Schema.String,
  /** Of a server that ended; above 128 when a signal ended it. */
  exitCode: Schema.optionalKey(Schema.Int),
  logFile: Schema.String,
  /** The last lines that the server printed in this start. */
  lastLines: Schema.Array(Schema.String)
}) {
  override get message() {
    const said = this.lastLines.length === 0 ? "It printed nothing." : `It printed:\n${this.lastLines.join("\n")}`
    return `nats-server did not start (${this.reason}). Look at ${this.logFile}, or run 'reprise doctor'. ${said}`
  }
}

/** The server died too often; its clients stay disconnected. */
export class ServerGaveUp extends Schema.TaggedError<ServerGaveUp>()("ServerGaveUp", {
  restarts: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `nats-server was restarted ${this.restarts} times in a short time and is down (${this.reason}). Run 'reprise doctor', then start again: no acknowledged data is lost.`
  }
}
