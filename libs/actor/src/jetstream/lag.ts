/** Asks the server how far a consumer is behind. */
import { attempt, JetStreamRefused, jetStreamCode } from "@reprise/nats"
import { Effect } from "effect"
import type { BrokerShape } from "../broker/Broker.ts"
import { type Connection, fault } from "./Connection.ts"

export const makeLag =
  ({ jsm, subjects }: Connection): BrokerShape["lag"] =>
  ({ durable, stream }) => {
    const operation = `look at the consumer ${durable}`
    return attempt(operation, () => jsm.consumers.info(subjects.streams[stream], durable)).pipe(
      Effect.map(({ num_ack_pending, num_pending }) => ({ waiting: num_pending, unsettled: num_ack_pending })),
      Effect.catchIf(
        (error) => error instanceof JetStreamRefused && error.code === jetStreamCode.consumerNotFound,
        () => Effect.undefined
      ),
      Effect.mapError(fault(operation))
    )
  }
