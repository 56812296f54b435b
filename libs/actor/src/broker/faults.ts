/** How the broker port fails: a conflict, a lost body, no space, or a fault of the driver underneath. */
import { Predicate, Schema } from "effect"

/** Another writer appended to this subject first: read its tail and decide again. */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {
  subject: Schema.String,
  expected: Schema.Finite
}) {
  override get message() {
    return `'${this.subject}' moved past sequence ${this.expected}. Read its tail and decide again.`
  }
}

/** The object that holds a message's body does not exist: it was removed, or never stored. It will not come back. */
export class BodyLost extends Schema.TaggedError<BodyLost>()("BodyLost", { object: Schema.String }) {
  override get message() {
    return `The body is stored in the object '${this.object.slice(0, 200)}', and there is no such object.`
  }
}

/** The quota or the disk is full, or the disk fails: the server does not say which in a code. Nothing was stored. */
export class BrokerFull extends Schema.TaggedError<BrokerFull>()("BrokerFull", {
  operation: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The broker cannot store more: its space is used up, or its disk fails (${this.operation}: ${this.reason}). Reprise keeps trying. Run 'reprise prune', give the streams more space, or look after the disk.`
  }
}

/** The broker or its client broke; whether a write happened may be unknown. */
export class BrokerFault extends Schema.TaggedError<BrokerFault>()("BrokerFault", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The broker failed (${this.operation}): ${reasonOf(this.cause)}`
  }
}

const reasonOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "message") ? String(cause.message) : typeof cause === "string" ? cause : "unknown"
