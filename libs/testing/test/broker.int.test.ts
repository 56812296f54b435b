import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { localBroker, localBrokerWith } from "../src/index.ts"
import { brokerContract } from "./brokerContract.ts"

layer(localBroker, { excludeTestServices: true })("a broker from the local program", (it) => {
  brokerContract(it)
})

describe("a broker with its own settings", () => {
  it.live("reports the server's message when it cannot start", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(localBrokerWith({ settings: "nonsense {" }))))
      assert.match(error.message, /^The broker for tests failed to start: /)
    })
  )
})
