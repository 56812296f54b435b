/** The suites that hold for every broker, on the broker in memory, in virtual time. */
import { it } from "@effect/vitest"
import { Layer } from "effect"
import { ActorConfig, MemoryBroker } from "../src/index.ts"
import { askSuite } from "./support/askSuite.ts"
import { brokerContract } from "./support/brokerContract.ts"
import { durabilitySuite } from "./support/durabilitySuite.ts"
import { inputSuite } from "./support/inputSuite.ts"
import { testSettings } from "./support/jetStream.ts"
import { memoryWorld, passingTime } from "./support/systems.ts"
import { workSuite } from "./support/workSuite.ts"

brokerContract(
  "a broker in memory",
  MemoryBroker.layer.pipe(Layer.provideMerge(ActorConfig.layer(testSettings)), Layer.provideMerge(passingTime))
)

const inMemory = { open: memoryWorld, test: it.effect }
inputSuite("every input, on a broker in memory", inMemory)
askSuite("asking, on a broker in memory", inMemory)
durabilitySuite("durable intent, on a broker in memory", { ...inMemory, racingCommands: 60 })
workSuite("work and timers, on a broker in memory", inMemory)
