/** Request and reply, as a NATS micro service: `nats micro ls` shows it, and it answers `$SRV.PING`. */
import { promisify } from "node:util"
import { constants, gunzip, gzip } from "node:zlib"
import { type Service, type ServiceMsg, Svcm } from "@nats-io/services"
import { headers, type Msg } from "@nats-io/transport-node"
import { attempt } from "@reprise/nats"
import { Effect, FiberSet } from "effect"
import type { BrokerShape, QueryHandler } from "../broker/Broker.ts"
import { type Connection, fault } from "./Connection.ts"
import { bodyHeader, fitsMessage, isLarge, type LargeBodies } from "./largeBodies.ts"

/** Of the micro service's interface, shown by `nats micro ls`. */
const version = "1.0.0"
const answerWithinMs = 15_000
/** How often a query is asked again: it, or its answer, is lost when the connection breaks. */
const askedAgain = 1

/** The asker has read it by then. It does not remove it itself: whoever asks need not be somebody who may remove anything. */
const replyKept = "1 minute"

const compress = promisify(gzip)
const decompress = promisify(gunzip)
/** A list is JSON with the same names over and over: the fastest level makes it a tenth. */
const fastest = { level: constants.Z_BEST_SPEED }
/** Far above any list; a forged reply must not fill the memory. */
const wholeReply = { maxOutputLength: 512 * 1024 ** 2 }

/** Who understands a compressed reply says so, and the reply says that it is one, as in HTTP. */
const accepts = "accept-encoding"
const encoding = "content-encoding"

/** The reply in a few bytes; undefined: who asked does not understand it, or it is too large all the same. */
const compressed = Effect.fnUntraced(function* (message: ServiceMsg, reply: string) {
  if (message.headers?.get(accepts) !== "gzip") return undefined
  const bytes = yield* Effect.promise(() => compress(reply, fastest))
  return fitsMessage(bytes) ? bytes : undefined
})

/**
 * A list of many actors may be larger than a message can be. Then the reply is compressed, or it names an object, which is
 * removed later: an object costs several writes to disk.
 */
const respond = Effect.fnUntraced(function* (bodies: LargeBodies, message: ServiceMsg, reply: string) {
  if (!isLarge(reply)) return void message.respond(reply)
  const bytes = yield* compressed(message, reply)
  if (bytes !== undefined) {
    const isCompressed = headers()
    isCompressed.set(encoding, "gzip")
    return void message.respond(bytes, { headers: isCompressed })
  }
  const object = `reply/${crypto.randomUUID()}`
  yield* bodies.put(object, reply)
  const reference = headers()
  reference.set(bodyHeader, object)
  message.respond("", { headers: reference })
  yield* Effect.sleep(replyKept).pipe(Effect.ensuring(Effect.ignore(bodies.remove(object))))
})

const understands = () => {
  const asked = headers()
  asked.set(accepts, "gzip")
  return asked
}

const readReply = Effect.fnUntraced(function* (bodies: LargeBodies, message: Msg) {
  if (message.headers?.get(encoding) === "gzip") {
    const bytes = yield* attempt("read a compressed reply", () => decompress(message.data, wholeReply)).pipe(
      Effect.mapError(fault("read a compressed reply"))
    )
    return bytes.toString("utf8")
  }
  const object = message.headers?.get(bodyHeader) ?? ""
  if (object === "") return message.string()
  return yield* Effect.catchTag(bodies.get(object), "BodyLost", (lost) => Effect.fail(fault(`read ${object}`)(lost)))
})

/** What follows `<prefix>.api.<service>` in the subject. */
const endpointOf = (subject: string): string => subject.split(".").slice(3).join("-")

/** A micro service that ends with the scope. */
const startService = ({ nc }: Connection, name: string) =>
  Effect.acquireRelease(
    attempt(`serve ${name}`, () => new Svcm(nc).add({ name, version, description: `Reprise ${name}` })),
    (running: Service) =>
      attempt("stop serving", () => running.stop()).pipe(Effect.timeoutOption("1 second"), Effect.ignore)
  ).pipe(Effect.mapError(fault(`serve ${name}`)))

const answer = (bodies: LargeBodies, query: string, handler: QueryHandler, message: ServiceMsg) =>
  handler(message.string()).pipe(
    Effect.flatMap((reply) => respond(bodies, message, reply)),
    Effect.catchCause((cause) => Effect.logError(`the query ${query} was not answered`, cause))
  )

export const makeQueries = (connection: Connection, bodies: LargeBodies): Pick<BrokerShape, "serve" | "request"> => ({
  serve: Effect.fnUntraced(function* (name, handlers) {
    const fibers = yield* FiberSet.make<void, never>()
    const run = yield* FiberSet.runtime(fibers)()
    const running = yield* startService(connection, name)
    for (const [subject, handler] of Object.entries(handlers)) {
      running.addEndpoint(endpointOf(subject), {
        subject,
        handler: (error, message) => {
          if (error === null) run(answer(bodies, subject, handler, message))
        }
      })
    }
  }),
  request: (subject, request) =>
    attempt(`ask ${subject}`, () =>
      connection.nc.request(subject, request, { timeout: answerWithinMs, headers: understands() })
    ).pipe(
      Effect.retry({ while: ({ _tag }) => _tag === "RequestTimedOut", times: askedAgain }),
      Effect.mapError((error) => (error._tag === "NoStreamStores" ? error : fault(`ask ${subject}`)(error))),
      Effect.flatMap((message) => readReply(bodies, message)),
      // Nobody serves the subject.
      Effect.catchTag("NoStreamStores", () => Effect.succeed(undefined))
    )
})
