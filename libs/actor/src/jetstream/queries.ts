/** Request and reply, as a NATS micro service: `nats micro ls` shows it, `$SRV.PING` is answered. */
import { Svcm } from "@nats-io/services"
import { errors } from "@nats-io/transport-node"
import { attempt } from "@reprise/nats"
import { Effect, FiberSet } from "effect"
import type { BrokerShape } from "../broker/Broker.ts"
import { type Connection, fault } from "./Connection.ts"

/** Of the micro service's interface, shown by `nats micro ls`. */
const version = "1.0.0"
const answerWithinMs = 5_000

export const makeQueries = (connection: Connection): Pick<BrokerShape, "serve" | "request"> => {
  const { nc, subjects } = connection
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
            run(Effect.flatMap(handler(message.string()), (reply) => Effect.sync(() => void message.respond(reply))))
          }
        })
      }
    }),
    request: (subject, request) =>
      Effect.tryPromise({
        try: () => nc.request(subject, request, { timeout: answerWithinMs }),
        catch: (cause) => cause
      }).pipe(
        Effect.map((message) => message.string()),
        Effect.catch((cause) =>
          cause instanceof errors.RequestError && cause.isNoResponders()
            ? Effect.succeed(undefined)
            : Effect.fail(fault(`ask ${subject}`)(cause))
        )
      )
  }
}
