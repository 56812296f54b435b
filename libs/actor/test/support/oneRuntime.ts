/** The runtime of counters in one process, without what receives: a test hands it each input itself. */
import { Key, type MessageMeta, subjects } from "@reprise/protocol"
import { Deferred, Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { ActorConfig, type ActorSettings } from "../../src/ActorConfig.ts"
import { Broker, type BrokerShape } from "../../src/broker/Broker.ts"
import type { BrokerFault, BrokerFull } from "../../src/broker/faults.ts"
import { MemoryBroker } from "../../src/index.ts"
import { makeActorRuntime } from "../../src/runtime/ActorRuntime.ts"
import { makeAnswers } from "../../src/runtime/Answers.ts"
import { type ActorInput, handleInput } from "../../src/runtime/handleInput.ts"
import { makeViewWriter } from "../../src/runtime/ViewWriter.ts"
import { type CounterInput, counter } from "./Counter.ts"
import { letTimePass } from "./systems.ts"

export const key = Key.make("a")
export const startedAt = Date.parse("2026-01-02T03:04:05.000Z")
export const metaOf = (id: string, more: Partial<MessageMeta> = {}): MessageMeta => ({
  ...{ id, type: "Add", source: "/x/y", subject: "r1", time: new Date(startedAt).toISOString() },
  ...more
})

/**
 * On a broker of its own, in virtual time that passes only where the test says so, and at its end: a process that stops
 * waits a second for what is under way.
 */
export const story = <A, E>(test: Effect.Effect<A, E, Broker | Scope.Scope>) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(startedAt)
    const over = yield* Deferred.make<void>()
    yield* Effect.forkScoped(
      Effect.andThen(Deferred.await(over), Effect.scoped(Effect.andThen(letTimePass, Effect.never)))
    )
    return yield* test.pipe(
      Effect.ensuring(Deferred.succeed(over, undefined)),
      Effect.provide(MemoryBroker.layer),
      Effect.scoped
    )
  })

/** On a broker of which some parts may be replaced. `writer`: its name, which no other process has. */
export const running = Effect.fnUntraced(function* (
  how: (broker: BrokerShape) => Partial<BrokerShape> = () => ({}),
  otherwise: Partial<typeof counter> = {},
  changed: Partial<ActorSettings> = {},
  writer = "writer"
) {
  const shared = yield* Broker
  const broker = { ...shared, ...how(shared) }
  const settings = yield* Effect.provide(ActorConfig, ActorConfig.layer({ prefix: "t", ...changed }))
  const actor = { ...counter, ...otherwise }
  const views = yield* makeViewWriter(actor, broker, settings)
  const answers = yield* makeAnswers()
  const runtime = makeActorRuntime(actor, broker, subjects("t"), settings, answers, views, writer)
  /** Handles the input, and stores its answer where there is one. */
  const handle = (input: CounterInput, more: Partial<ActorInput<CounterInput>> = {}) =>
    Effect.flatMap(
      handleInput(runtime, { key, input, meta: metaOf("m1"), arrival: 1, redelivered: false, ...more }),
      (handled): Effect.Effect<number | "answered", BrokerFault | BrokerFull> =>
        typeof handled === "number" ? Effect.succeed(handled) : Effect.as(handled, "answered")
    )
  return { runtime, handle }
})
