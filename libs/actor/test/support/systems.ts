/** Brokers, and processes on them, as scoped values. */
import { afterAll, describe, it } from "@effect/vitest"
import { jetstreamManager } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { lacksTestBroker, Broker as Server, type TestBroker, testBroker } from "@reprise/testing"
import { Context, Effect, Exit, Layer, Logger, Schedule, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ActorConfig, type ActorSettings, type Broker, MemoryBroker, Messenger } from "../../src/index.ts"
import { type ConnectionSettings, jetStream, testSettings } from "./jetStream.ts"

export { testBroker as server }

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
export const letTimePass = eventLoopTurn.pipe(
  Effect.repeat({ times: 2 }),
  Effect.andThen(TestClock.adjust("10 millis")),
  Effect.forever,
  Effect.forkScoped
)

/** Virtual time that passes. */
export const passingTime = Layer.effectDiscard(letTimePass).pipe(Layer.provideMerge(TestClock.layer()))

export const processOn = <E>(broker: Layer.Layer<Broker | ActorConfig, E>, parts: ReadonlyArray<Part>) =>
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

interface ServerWorld extends World {
  readonly server: TestBroker
}

const worldOn = (
  server: TestBroker,
  settings: Partial<ActorSettings>,
  connection: ConnectionSettings = {}
): ServerWorld => ({ server, start: (...parts) => processOn(jetStream(server.url, settings, connection), parts) })

/** Processes on a real server of their own, which the test may kill, freeze or fill. */
export const ownServerWorld = Effect.fnUntraced(function* (
  settings: Partial<ActorSettings> = {},
  storageBytes?: number
): Effect.fn.Return<ServerWorld, unknown, Scope.Scope> {
  const context = yield* Layer.build(testBroker)
  return worldOn(Context.get(context, Server), settings, storageBytes === undefined ? {} : { storageBytes })
})

let shared: { readonly scope: Scope.Closeable; readonly server: Promise<TestBroker> } | undefined

/** The server of a suite: starting one takes longer than most of the tests. */
const sharedServer = Effect.promise(() => {
  if (shared === undefined) {
    const scope = Scope.makeUnsafe()
    const server = Effect.map(Layer.build(testBroker), (context) => Context.get(context, Server))
    shared = { scope, server: Effect.runPromise(Scope.provide(server, scope)) }
  }
  return shared.server
})

const stopSharedServer = async () => {
  if (shared !== undefined) await Effect.runPromise(Scope.close(shared.scope, Exit.void))
  shared = undefined
}

const describeOnServer = describe.skipIf(await Effect.runPromise(lacksTestBroker))

/** A suite on a real server; skipped where the kind of server asked for cannot be had. */
export const onServer = (
  name: string,
  tests: () => void,
  options: { readonly concurrent?: boolean; readonly timeout?: number } = {}
) =>
  describeOnServer(name, options, () => {
    afterAll(stopSharedServer)
    tests()
  })

const removeStreams = (url: string) =>
  Effect.promise(async () => {
    const connection = await connect({ servers: url })
    const manager = await jetstreamManager(connection)
    for (const { config } of await manager.streams.list().next()) await manager.streams.delete(config.name)
    await connection.close()
  })

/** Processes with a connection each, on a real server that other tests of the suite use after this one. */
export const jetStreamWorld = Effect.fnUntraced(function* (
  settings: Partial<ActorSettings> = {}
): Effect.fn.Return<ServerWorld, unknown, Scope.Scope> {
  const server = yield* Effect.acquireRelease(sharedServer, ({ url }) => removeStreams(url))
  return worldOn(server, settings)
})

/** Waits for something that will happen, and dies when it has not within five minutes. */
export const waitUntil = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  condition.pipe(
    Effect.repeat({ until: (met) => met, schedule: Schedule.spaced("10 millis") }),
    Effect.timeoutOrElse({ duration: "5 minutes", orElse: () => Effect.die(new Error("waited in vain")) })
  )

/** On a real server that the tests of a suite share, one after the other. */
export const onJetStream: Stage = { open: jetStreamWorld, test: it.live }
