/**
 * How requests to the broker fail. Whatever a driver throws becomes a `BrokerError` once, at the edge, by class and
 * server error code, never by text.
 */
import { JetStreamApiError } from "@nats-io/jetstream"
import { JetStreamStatusError } from "@nats-io/jetstream/internal"
import { errors } from "@nats-io/transport-node"
import { Effect, Schedule, Schema } from "effect"

const operation = Schema.String

/** No server could be reached when connecting. An existing connection reconnects by itself instead. */
export class BrokerUnreachable extends Schema.TaggedError<BrokerUnreachable>()("BrokerUnreachable", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `No NATS server answers at ${this.url} (${this.reason}). Start one, or check the address and the network.`
  }
}

/** The server answered and refused the credentials. */
export class BrokerRefused extends Schema.TaggedError<BrokerRefused>()("BrokerRefused", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The NATS server at ${this.url} refused these credentials (${this.reason}). Check the user or the credentials file.`
  }
}

export class CredentialsUnreadable extends Schema.TaggedError<CredentialsUnreadable>()("CredentialsUnreadable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The credentials file ${this.path} cannot be read (${this.reason}). Check its path and permissions.`
  }
}

/** No answer in time, or the connection was lost during the request: the outcome is unknown. */
export class RequestTimedOut extends Schema.TaggedError<RequestTimedOut>()("RequestTimedOut", { operation }) {
  override get message() {
    return `The broker did not answer in time: ${this.operation}. It is tried again with the same message id.`
  }
}

export class PermissionDenied extends Schema.TaggedError<PermissionDenied>()("PermissionDenied", {
  operation,
  subject: Schema.String,
  /** Who was refused; none when the driver did not say on which connection. */
  identity: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const who = this.identity === undefined ? "This identity" : `The identity '${this.identity}'`
    return `${who} may not use '${this.subject}' on the NATS server (${this.operation}). Log in as an identity that may, or make the server's permissions again from those of this version (docs/operations.md#identities).`
  }
}

/** Who was refused, by the driver's error: it does not say so itself. */
const refused = new WeakMap<Error, string>()

/** Notes on whose connection this was thrown, if it says that something is not permitted. */
export const notePermission = (thrown: unknown, identity: string): void => {
  for (let link = thrown; link instanceof Error; link = link.cause) {
    if (link instanceof errors.PermissionViolationError) refused.set(link, identity)
  }
}

/** The server has no JetStream, the account may not use it, or no stream covers the subject: the server does not say which. */
export class NoStreamStores extends Schema.TaggedError<NoStreamStores>()("NoStreamStores", { operation }) {
  override get message() {
    return `This was not stored (${this.operation}): JetStream is off for this account, or no stream covers the subject. Run 'reprise doctor'.`
  }
}

/** Error 10077: the stream's quota, or the disk, is full, or the disk fails. The message was not stored. */
export class StreamFull extends Schema.TaggedError<StreamFull>()("StreamFull", {
  operation,
  reason: Schema.String
}) {
  override get message() {
    return `The broker could not store the message: its space is used up, or its disk fails (${this.operation}: ${this.reason}). Run 'reprise prune', give the streams more space, or look after the disk.`
  }
}

/** Errors 10071 and 10164: another writer appended to this subject first. */
export class WrongSequence extends Schema.TaggedError<WrongSequence>()("WrongSequence", { operation }) {
  override get message() {
    return `Another writer was first (${this.operation}). Read the subject again and decide again.`
  }
}

/** The connection was closed for good. */
export class ConnectionClosed extends Schema.TaggedError<ConnectionClosed>()("ConnectionClosed", { operation }) {
  override get message() {
    return `The connection to the broker is closed (${this.operation}). Start the command again.`
  }
}

/** JetStream refused with an error code. */
export class JetStreamRefused extends Schema.TaggedError<JetStreamRefused>()("JetStreamRefused", {
  operation,
  code: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `The broker refused (${this.operation}): ${this.reason} (error ${this.code}). Run 'reprise doctor'.`
  }
}

/** Anything else a driver threw. */
export class ClientFault extends Schema.TaggedError<ClientFault>()("ClientFault", {
  operation,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The broker's client failed (${this.operation}): ${reason}. Run 'reprise doctor'.`
  }
}

export type BrokerError =
  | RequestTimedOut
  | PermissionDenied
  | NoStreamStores
  | StreamFull
  | WrongSequence
  | ConnectionClosed
  | JetStreamRefused
  | ClientFault

/** Server error codes that Reprise acts on. */
export const jetStreamCode = {
  streamNotFound: 10059,
  consumerNotFound: 10014,
  messageNotFound: 10037,
  wrongLastSequence: 10071,
  wrongLastSequenceUnknown: 10164,
  duplicateInProcess: 10158,
  storeFailed: 10077,
  accountResourcesExceeded: 10002,
  storageExceeded: 10047,
  insufficientResources: 10023,
  subjectsOverlap: 10065,
  streamNameInUse: 10058,
  replicasNotSupported: 10074,
  noSuitablePeers: 10005,
  clusterNotAvailable: 10008,
  maximumStreams: 10027,
  notEnabled: 10076,
  notEnabledForAccount: 10039
} as const

const apiError = (operation: string, cause: JetStreamApiError): BrokerError => {
  switch (cause.code) {
    case jetStreamCode.storeFailed:
      return new StreamFull({ operation, reason: cause.message })
    case jetStreamCode.wrongLastSequence:
    case jetStreamCode.wrongLastSequenceUnknown:
      return new WrongSequence({ operation })
    case jetStreamCode.duplicateInProcess:
      return new RequestTimedOut({ operation })
    case jetStreamCode.notEnabled:
    case jetStreamCode.notEnabledForAccount:
      return new NoStreamStores({ operation })
    default:
      return new JetStreamRefused({ operation, code: cause.code, reason: cause.message })
  }
}

/** The error of one link in a chain of causes; undefined when only its cause can say. */
const knownError = (operation: string, thrown: unknown): BrokerError | undefined => {
  if (thrown instanceof JetStreamApiError) return apiError(operation, thrown)
  if (thrown instanceof errors.NoRespondersError) return new NoStreamStores({ operation })
  if (thrown instanceof errors.PermissionViolationError) {
    const identity = refused.get(thrown)
    return new PermissionDenied({ operation, subject: thrown.subject, ...(identity === undefined ? {} : { identity }) })
  }
  if (thrown instanceof errors.ClosedConnectionError || thrown instanceof errors.DrainingConnectionError) {
    return new ConnectionClosed({ operation })
  }
  // A consumer was asked for messages that nobody serves: in a cluster, not yet, or its server has just ended.
  if (thrown instanceof JetStreamStatusError && thrown.code === 503) return new RequestTimedOut({ operation })
  // A request in flight when the connection broke rejects with a RequestError that has no cause.
  const unanswered =
    thrown instanceof errors.TimeoutError ||
    thrown instanceof errors.ConnectionError ||
    (thrown instanceof errors.RequestError && thrown.cause === undefined)
  return unanswered ? new RequestTimedOut({ operation }) : undefined
}

/** Reads what a NATS driver threw during `operation`: the first link in the chain of causes that means something. */
export const brokerError = (operation: string, thrown: unknown): BrokerError => {
  for (let link = thrown; link !== undefined; link = link instanceof Error ? link.cause : undefined) {
    const known = knownError(operation, link)
    if (known !== undefined) return known
  }
  return new ClientFault({ operation, cause: thrown })
}

/** Runs a driver's promise; what it throws becomes a `BrokerError`. */
export const attempt = <A>(operation: string, run: () => Promise<A>): Effect.Effect<A, BrokerError> =>
  Effect.tryPromise({ try: run, catch: (thrown) => brokerError(operation, thrown) })

/**
 * Repeats a request that changes nothing the second time, while it gets no answer. One that met the end of a server waits
 * for the next one: a server that is killed, even in its first start, is started again.
 */
export const untilAnswered = <A, E extends { readonly _tag: string }, R>(
  request: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.retry(request, {
    while: (error) => error._tag === "RequestTimedOut",
    times: 4,
    // In a cluster the answer that there is nobody comes at once.
    schedule: Schedule.spaced("100 millis")
  })
