/** Messages for whoever listens at the moment: plain NATS, without a stream. */
import { attempt } from "@reprise/nats"
import { Effect, Stream } from "effect"
import type { BrokerShape } from "../broker/Broker.ts"
import type { Connection } from "./Connection.ts"

export const makeAnnouncements = ({ nc }: Connection): Pick<BrokerShape, "announce" | "hear"> => ({
  announce: (subject, body) =>
    attempt(`announce ${subject}`, async () => nc.publish(subject, body)).pipe(Effect.ignore),
  // Reconnecting subscribes again.
  hear: (pattern) =>
    Stream.unwrap(
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => nc.subscribe(pattern)),
          (subscription) => Effect.sync(() => subscription.unsubscribe())
        ),
        (subscription) =>
          Stream.fromAsyncIterable(subscription, () => "closed").pipe(
            Stream.map((message) => ({ subject: message.subject, body: message.string() })),
            Stream.catch(() => Stream.never)
          )
      )
    )
})
