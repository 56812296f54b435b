import { Broker as Server } from "@reprise/testing"
import { Effect, Layer } from "effect"
import { brokerContract } from "./support/brokerContract.ts"
import { jetStream, server } from "./support/systems.ts"

brokerContract(
  "a broker on JetStream",
  Layer.unwrap(Effect.map(Server, ({ url }) => jetStream(url))).pipe(Layer.provide(server))
)
