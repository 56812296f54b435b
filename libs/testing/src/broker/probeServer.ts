import { connect } from "node:net"
import { Effect, Schedule, Schema } from "effect"
import { TestBrokerError } from "./Broker.ts"

const Info = Schema.fromJsonString(Schema.Struct({ version: Schema.String, jetstream: Schema.Boolean }))
const decodeInfo = Schema.decodeUnknownEffect(Info)

/** The line every nats-server greets a client with: `INFO {...}`. */
const greeting = (host: string, port: number): Effect.Effect<string, Error> =>
  Effect.callback((resume) => {
    const socket = connect({ host, port })
    let text = ""
    socket.on("data", (data) => {
      text += data.toString()
      const line = /^INFO (\{.*\})\s*\r\n/.exec(text)?.[1]
      if (line === undefined) return
      socket.destroy()
      resume(Effect.succeed(line))
    })
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.on("close", () => resume(Effect.fail(new Error("the server closed the connection without a greeting"))))
    return Effect.sync(() => socket.destroy())
  })

/**
 * Waits until a nats-server with JetStream greets at the address: it opens its client port only after its streams are
 * recovered. Gives its version; fails after three minutes.
 */
export const awaitServer = Effect.fn("awaitServer")(function* (host: string, port: number) {
  const info = yield* greeting(host, port).pipe(
    Effect.timeout("1 second"),
    Effect.flatMap(decodeInfo),
    Effect.filterOrFail(
      ({ jetstream }) => jetstream,
      () => new Error("JetStream is not enabled")
    ),
    Effect.retry({ schedule: Schedule.spaced("25 millis").pipe(Schedule.upTo({ duration: "3 minutes" })) }),
    Effect.mapError((cause) => new TestBrokerError({ operation: "start: it does not answer", cause }))
  )
  return info.version
})
