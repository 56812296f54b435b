/** Request and reply, as a NATS micro service: `nats micro ls` shows it, `$SRV.PING` is answered. */
import { type ServiceMsg, Svcm } from "@nats-io/services"
import { errors, headers, type Msg } from "@nats-io/transport-node"
import { attempt } from "@reprise/nats"
import { Effect, FiberSet } from "effect"
import type { BrokerShape } from "../broker/Broker.ts"
import { type Connection, fault } from "./Connection.ts"
import { bodyHeader, isLarge, type LargeBodies } from "./largeBodies.ts"

/** Of the micro service's interface, shown by `nats micro ls`. */
const version = "1.0.0"
const answerWithinMs = 5_000

export const makeQueries = (connection: Connection, bodies: LargeBodies): Pick<BrokerShape, "serve" | "request"> => {
  const { nc, subjects } = connection

  /** A list of many actors may be larger than a message may be; whoever asked reads the object and removes it. */
  const respond = Effect.fnUntraced(function* (message: ServiceMsg, reply: string) {
    if (!isLarge(reply)) return void message.respond(reply)
    const object = `reply/${crypto.randomUUID()}`
    yield* bodies.put(object, reply)
    const reference = headers()
    reference.set(bodyHeader, object)
    message.respond("", { headers: reference })
  })

  const resolve = Effect.fnUntraced(function* (message: Msg) {
    const object = message.headers?.get(bodyHeader) ?? ""
    if (object === "") return message.string()
    const reply = yield* Effect.catchTag(bodies.get(object), "BodyLost", (lost) =>
      Effect.fail(fault(`read ${object}`)(lost))
    )
    yield* bodies.remove(object).pipe(Effect.ignore)
    return reply
  })

  return {
    serve: Effect.fnUntraced(function* (service, handlers) {
      const fibers = yield* FiberSet.make<void, never>()
      const run = yield* FiberSet.runtime(fibers)()
      const micro = yield* Effect.acquireRelease(
        attempt(`serve ${service}`, () =>
          new Svcm(nc).add({ name: service, version, description: `Reprise ${service}` })
        ),
        (running) => attempt("stop serving", () => running.stop()).pipe(Effect.timeoutOption("1 second"), Effect.ignore)
      ).pipe(Effect.mapError(fault(`serve ${service}`)))
      for (const [query, handler] of Object.entries(handlers)) {
        micro.addEndpoint(query, {
          subject: subjects.api(service, query),
          handler: (error, message) => {
            if (error !== null) return
            run(
              handler(message.string()).pipe(
                Effect.flatMap((reply) => respond(message, reply)),
                Effect.catchCause((cause) => Effect.logError(`the query ${query} was not answered`, cause))
              )
            )
          }
        })
      }
    }),
    request: (subject, request) =>
      Effect.tryPromise({
        try: () => nc.request(subject, request, { timeout: answerWithinMs }),
        catch: (cause) => cause
      }).pipe(
        Effect.flatMap(resolve),
        Effect.catch((cause) =>
          cause instanceof errors.RequestError && cause.isNoResponders()
            ? Effect.succeed(undefined)
            : Effect.fail(fault(`ask ${subject}`)(cause))
        )
      )
  }
}
