/** Brokers, and processes on them, as scoped values. */
import { describe, it } from "@effect/vitest"
import { ensureStreams, Nats } from "@reprise/nats"
import { lacksTestBroker, Broker as Server, type TestBroker, testBroker } from "@reprise/testing"
import { type Context, Effect, Layer, Logger, Schedule, type Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  ActorConfig,
  type ActorSettings,
  type Broker,
  JetStreamBroker,
  MemoryBroker,
  Messenger
} from "../../src/index.ts"

export const testSettings: Partial<ActorSettings> = { prefix: "t", ackWaitMs: 1_000, heartbeatMs: 300 }

export { testBroker as server }

/** A suite on a real server; skipped where the kind of server asked for cannot be had. */
export const onServer = describe.skipIf(await Effect.runPromise(lacksTestBroker))

export type Process = Context.Context<Messenger | Broker | ActorConfig>

type Part = Layer.Layer<never, unknown, Broker | ActorConfig | Messenger>

/** Something that processes share; each call of `start` is one more process, which ends with the scope. */
export interface World {
  readonly start: (...parts: ReadonlyArray<Part>) => Effect.Effect<Process, unknown, Scope.Scope>
}

/** Where a suite runs: how its tests get a world, and on which clock they run. */
export interface Stage {
  readonly open: (settings?: Partial<ActorSettings>) => Effect.Effect<World, unknown, Scope.Scope>
  readonly test: typeof it.live
}

const eventLoopTurn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/**
 * Lets virtual time pass while the scope is open: 10 ms for every few turns of the event loop. What happens in one
 * process is done in such turns, so time depends on what was done and not on how busy the machine is.
 */
const letTimePass = eventLoopTurn.pipe(
  Effect.repeat({ times: 2 }),
  Effect.andThen(TestClock.adjust("10 millis")),
  Effect.forever,
  Effect.forkScoped
)

/** Virtual time that passes. */
export const passingTime = Layer.effectDiscard(letTimePass).pipe(Layer.provideMerge(TestClock.layer()))

const processOn = <E>(broker: Layer.Layer<Broker | ActorConfig, E>, parts: ReadonlyArray<Part>) =>
  Layer.build(
    Layer.fresh(
      Layer.mergeAll(Layer.empty, ...parts).pipe(
        Layer.provideMerge(Messenger.layer),
        Layer.provideMerge(broker),
        Layer.provide(Logger.layer([]))
      )
    )
  )

/** Processes in memory, in virtual time that passes. */
export const memoryWorld = Effect.fnUntraced(function* (settings: Partial<ActorSettings> = {}) {
  yield* letTimePass
  const config = ActorConfig.layer({ ...testSettings, ...settings })
  const shared = yield* Layer.build(MemoryBroker.layer.pipe(Layer.provideMerge(config)))
  return { start: (...parts) => processOn(Layer.succeedContext(shared), parts) } satisfies World
})

/** The broker port over a connection of its own to a server, with the streams there. */
export const jetStream = (url: string, settings: Partial<ActorSettings> = {}, storageBytes = 256 * 1024 ** 2) =>
  JetStreamBroker.layer.pipe(
    Layer.provideMerge(Layer.effectDiscard(ensureStreams("t", { storageBytes }))),
    Layer.provideMerge(Nats.layer({ url, name: "test", reconnectWaitMs: 50 })),
    Layer.provideMerge(ActorConfig.layer({ ...testSettings, ...settings }))
  )

/** A real server of its own, and processes with a connection each. */
export const jetStreamWorld = Effect.fnUntraced(function* (
  settings: Partial<ActorSettings> = {},
  storageBytes?: number
): Effect.fn.Return<World & { readonly server: TestBroker }, unknown, Scope.Scope> {
  const context = yield* Layer.build(testBroker)
  const server = yield* Server.pipe(Effect.provide(context))
  return { server, start: (...parts) => processOn(jetStream(server.url, settings, storageBytes), parts) }
})

/** Waits for something that will happen, and dies when it has not within 20 seconds. */
export const waitUntil = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  condition.pipe(
    Effect.repeat({ until: (met) => met, schedule: Schedule.spaced("10 millis") }),
    Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.die(new Error("waited in vain")) })
  )

/** Every test has a server of its own. */
export const onJetStream: Stage = { open: jetStreamWorld, test: it.live }
