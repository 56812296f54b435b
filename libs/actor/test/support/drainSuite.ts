/** A host that takes no new work. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, Host, subjects } from "@reprise/protocol"
import { Deferred, Effect, Exit, Layer, Schedule, Scope, SubscriptionRef } from "effect"
import { NeedMet } from "../../src/health/HostNeed.ts"
import { ActorConfig, actorLayer, Broker, drain, Messenger, type QueryFailed, workerLayer } from "../../src/index.ts"
import { CounterWork, counter, toCounter } from "./Counter.ts"
import { type ownServerWorld, type Stage, waitUntil } from "./systems.ts"

const count = actorLayer(counter)
const [first, second] = [Host.make("first"), Host.make("second")]

const ask = (name: string) => Messenger.use((messenger) => messenger.send(toCounter("a").AskForWork({ name })))
const setDrained = (host: Host, drained: boolean) => Messenger.use((m) => m.setDrained("gate", host, drained))

/** A worker that was started is heard of by the server a moment later. */
const onceThere = <A, R>(asked: Effect.Effect<A, QueryFailed, R>) =>
  Effect.retry(asked, { while: ({ code }) => code === "not-running", schedule: Schedule.spaced("10 millis") })

const hosts = onceThere(Messenger.use((messenger) => messenger.hosts("gate")))
const drainedHosts = Effect.map(hosts, (all) =>
  all.flatMap(({ drainedAt, host }) => (drainedAt === undefined ? [] : [host]))
)

/** A worker that notes what it does and whether its host is drained. */
const noting = (done: Array<string>, host: Host) =>
  workerLayer({
    service: "gate",
    host,
    work: CounterWork,
    handle: ({ name }, { isDrained }) =>
      Effect.sync(() => void done.push(`${name} on ${host}${isDrained() ? ", drained" : ""}`))
  })

/** Where the server itself can be killed and started again. */
export const drainedForGood = (name: string, open: typeof ownServerWorld) =>
  describe(name, () => {
    it.live("stays drained when the server and every process are killed and started again", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const done: Array<string> = []
        yield* Effect.gen(function* () {
          const one = yield* world.start(count, noting(done, first))
          yield* onceThere(setDrained(first, true)).pipe(Effect.provide(one))
          yield* world.server.kill
        }).pipe(Effect.scoped)
        yield* world.server.start
        const one = yield* world.start(count, noting(done, first))
        yield* Effect.gen(function* () {
          yield* ask("a")
          assert.deepStrictEqual(yield* drainedHosts, [first])
          yield* world.start(noting(done, second))
          yield* waitUntil(Effect.sync(() => done.length === 1))
        }).pipe(Effect.provide(one))
        assert.deepStrictEqual(done, ["a on second"])
      }).pipe(Effect.scoped)
    )
  })

export const drainSuite = (name: string, { open, test }: Stage) =>
  describe(name, () => {
    test("takes no work that another host may do, while others take it, and takes it again when that is undone", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const done: Array<string> = []
        const one = yield* world.start(count, noting(done, first))
        const has = (length: number) => waitUntil(Effect.sync(() => done.length === length))
        yield* Effect.gen(function* () {
          yield* ask("a")
          yield* has(1)
          const drained = yield* onceThere(setDrained(first, true))
          assert.isString(drained.drainedAt)
          assert.deepStrictEqual(yield* setDrained(first, true), drained, "drained is drained, since the first time")
          yield* ask("b")
          const scope = yield* Scope.make()
          yield* Scope.provide(world.start(noting(done, second)), scope)
          yield* has(2)
          assert.deepStrictEqual(yield* drainedHosts, [first])
          yield* drain
          yield* Scope.close(scope, Exit.void)
          yield* ask("c")
          yield* setDrained(first, false)
          yield* has(3)
          yield* drain
          assert.deepStrictEqual(yield* drainedHosts, [])
        }).pipe(Effect.provide(one))
        assert.deepStrictEqual(done, ["a on first", "b on second", "c on first"])
      }).pipe(Effect.scoped))

    test("goes on with the work that it has, and stays drained whichever process has its name", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start(count)
        const [began, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const done: Array<string> = []
        const slow = workerLayer({
          service: "gate",
          host: first,
          work: CounterWork,
          handle: ({ name }, { isDrained }) =>
            Deferred.succeed(began, undefined).pipe(
              Effect.andThen(Deferred.await(go)),
              Effect.andThen(Effect.sync(() => void done.push(`${name}${isDrained() ? ", drained" : ""}`)))
            )
        })
        const scope = yield* Scope.make()
        yield* Scope.provide(world.start(slow), scope)
        yield* Effect.gen(function* () {
          yield* ask("a")
          yield* Deferred.await(began)
          yield* onceThere(setDrained(first, true))
          yield* Deferred.succeed(go, undefined)
          yield* drain
          assert.deepStrictEqual(done, ["a, drained"])
          yield* Scope.close(scope, Exit.void)
          yield* ask("b")
          yield* world.start(noting(done, first))
          assert.deepStrictEqual(yield* drainedHosts, [first])
          yield* world.start(noting(done, second))
          yield* drain
        }).pipe(Effect.provide(watching))
        assert.deepStrictEqual(done, ["a, drained", "b on second"])
      }).pipe(Effect.scoped))

    test("takes no work that another host may do while it lacks what it needs, goes on with its own, and is back", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const done: Array<string> = []
        const met = yield* SubscriptionRef.make(true)
        const [began, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const needy = workerLayer({
          service: "gate",
          host: first,
          work: CounterWork,
          handle: ({ name }) =>
            Deferred.succeed(began, undefined).pipe(
              Effect.andThen(Deferred.await(go)),
              Effect.andThen(Effect.sync(() => void done.push(`${name} on ${first}`)))
            )
        }).pipe(Layer.provide(Layer.succeed(NeedMet, met)))
        const one = yield* world.start(count, needy)
        const served = Effect.gen(function* () {
          const { prefix } = yield* ActorConfig
          const broker = yield* Broker
          return (yield* broker.request(subjects(prefix).worker("gate", anyHost), "")) !== undefined
        })
        const has = (length: number) => waitUntil(Effect.sync(() => done.length === length))
        yield* Effect.gen(function* () {
          yield* ask("a")
          yield* Deferred.await(began)
          yield* SubscriptionRef.set(met, false)
          yield* waitUntil(Effect.map(served, (now) => !now))
          yield* ask("b")
          yield* Deferred.succeed(go, undefined)
          yield* has(1)
          const scope = yield* Scope.make()
          yield* Scope.provide(world.start(noting(done, second)), scope)
          yield* has(2)
          yield* Scope.close(scope, Exit.void)
          yield* ask("c")
          yield* SubscriptionRef.set(met, true)
          yield* has(3)
          yield* waitUntil(served)
        }).pipe(Effect.provide(one))
        assert.deepStrictEqual(done, ["a on first", "b on second", "c on first"])
      }).pipe(Effect.scoped))

    test("is not there for work of any host, and cannot be drained when it does not answer", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start(count)
        yield* Effect.gen(function* () {
          const unknown = yield* Effect.flip(setDrained(first, true))
          assert.strictEqual(unknown.code, "not-running")
          yield* Effect.gen(function* () {
            yield* world.start(noting([], first))
            yield* onceThere(setDrained(first, true))
            const [shown] = yield* hosts
            assert.isTrue(shown?.answers)
          }).pipe(Effect.scoped)
          assert.strictEqual((yield* Effect.flip(setDrained(first, false))).code, "not-running")
          yield* world.start(noting([], second))
          assert.deepStrictEqual(
            (yield* hosts).map(({ answers, host }) => [host, answers]),
            [
              [first, false],
              [second, true]
            ]
          )
        }).pipe(Effect.provide(watching))
      }).pipe(Effect.scoped))
  })
