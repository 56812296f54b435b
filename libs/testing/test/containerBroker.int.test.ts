import { describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { containerBroker, hasContainerEngine } from "../src/index.ts"
import { brokerContract } from "./brokerContract.ts"

const hasEngine = await Effect.runPromise(hasContainerEngine)

describe.skipIf(!hasEngine)("with a container engine", () => {
  layer(containerBroker, { excludeTestServices: true })("a broker in a container", (it) => {
    brokerContract(it)
  })
})
