/** The suites that hold for every broker, on the broker in memory, in virtual time; and what that broker alone shows. */
import { assert, describe, it } from "@effect/vitest"
import { Key, subjects } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Delivered } from "../src/broker/Broker.ts"
import { ActorConfig, Broker, MemoryBroker } from "../src/index.ts"
import { askSuite } from "./support/askSuite.ts"
import { brokerContract } from "./support/brokerContract.ts"
import { drainSuite } from "./support/drainSuite.ts"
import { durabilitySuite } from "./support/durabilitySuite.ts"
import { inputSuite } from "./support/inputSuite.ts"
import { testSettings } from "./support/jetStream.ts"
import { pullLimitSuite } from "./support/pullLimitSuite.ts"
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
drainSuite("a host that is drained, on a broker in memory", inMemory)
pullLimitSuite("a host with room for some work, on a broker in memory", inMemory)

describe("a message that a broker in memory has delivered again", () => {
  it.effect("is handed back by its newest delivery alone", () =>
    Effect.gen(function* () {
      const broker = yield* Broker
      const subject = subjects("t").command("gate", Key.make("k"))
      const seen: Array<Delivered> = []
      const consumer = {
        stream: "commands",
        durable: "k",
        filters: [subject],
        maxInFlight: 1,
        ackWaitMs: 1_000
      } as const
      yield* broker.consume(consumer, (delivery) => seen.push(delivery))
      yield* broker.publish([
        {
          subject,
          body: "{}",
          meta: { id: "1", type: "Thing", source: "/test", subject: "k", time: "2026-01-01T00:00:00Z" }
        }
      ])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(seen.length, 2)
      seen[0]?.nak()
      yield* TestClock.adjust("900 millis")
      assert.strictEqual(seen.length, 2)
      seen[1]?.nak()
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(seen.length, 3)
    }).pipe(Effect.provide(MemoryBroker.layer.pipe(Layer.provideMerge(ActorConfig.layer(testSettings)))), Effect.scoped)
  )
})
