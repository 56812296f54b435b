import { Broker as Server } from "@reprise/testing"
import { Effect, Layer } from "effect"
import { brokerContract } from "./support/brokerContract.ts"
import { jetStream } from "./support/jetStream.ts"
import { onServer, server } from "./support/systems.ts"

onServer("on JetStream", () => {
  brokerContract("a broker", Layer.unwrap(Effect.map(Server, ({ url }) => jetStream(url))).pipe(Layer.provide(server)))
})
