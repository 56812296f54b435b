import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, Broker, MemoryBroker } from "@reprise/actor"
import { Host, RunId } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Leases, type LeaseTimes, leaseTimes } from "../src/work/leases/Leases.ts"

const r1 = RunId.make("r1")
const r2 = RunId.make("r2")
const claim = (runId: RunId) => ({ leaseId: "tree", runId, directory: "/repo" })

/** One broker, and a way to start the leases of a host on it, which end with the scope. */
const worldWith = Effect.fnUntraced(function* (times: LeaseTimes) {
  const shared = yield* Layer.build(MemoryBroker.layer.pipe(Layer.provideMerge(ActorConfig.layer())))
  const hostOf = (name: string) =>
    Layer.build(
      Layer.fresh(
        Leases.layerWith(times).pipe(
          Layer.provide(ActorConfig.layer({ host: Host.make(name) })),
          Layer.provide(Layer.succeedContext(shared))
        )
      )
    ).pipe(
      Effect.map((context) => Effect.provide(Leases, context)),
      Effect.flatten
    )
  const broker = yield* Effect.provide(Broker, shared)
  return { hostOf, broker }
})
const world = worldWith(leaseTimes)

describe("the lease of a working tree", () => {
  it.effect("is held by one run, and whoever is refused learns by which run on which host", () =>
    Effect.gen(function* () {
      const { hostOf } = yield* world
      const leases = yield* hostOf("h1")
      yield* leases.acquire(claim(r1))
      yield* leases.acquire(claim(r1))
      const refused = yield* Effect.flip(leases.acquire(claim(r2)))
      assert.match(refused.message, /^\/repo is in use by run r1 on host h1 .*reprise abort r1/)
      yield* leases.acquire({ ...claim(r2), leaseId: "other-tree" })
    })
  )

  it.effect("goes to exactly one of many runs that claim it at the same time", () =>
    Effect.gen(function* () {
      const { hostOf } = yield* world
      const hosts = yield* Effect.forEach(["h1", "h2", "h3"], hostOf)
      const outcomes = yield* Effect.all(
        Array.from({ length: 30 }, (_, n) => {
          const leases = hosts[n % 3]
          return leases === undefined
            ? Effect.die("no host")
            : Effect.result(leases.acquire(claim(RunId.make(`r${n}`))))
        }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "Success").length, 1)
    })
  )

  it.effect("can be taken by another run once its own run has freed it", () =>
    Effect.gen(function* () {
      const { hostOf } = yield* world
      const leases = yield* hostOf("h1")
      yield* leases.acquire(claim(r1))
      yield* leases.free(claim(r2))
      assert.strictEqual((yield* Effect.flip(leases.acquire(claim(r2))))._tag, "InUse")
      yield* leases.free(claim(r1))
      yield* leases.free(claim(r1))
      yield* leases.acquire(claim(r2))
    })
  )

  it.effect("does not go to an attempt that hung until its request was over and the workspace released", () =>
    Effect.gen(function* () {
      const { hostOf } = yield* world
      const leases = yield* hostOf("h1")
      const first = { ...claim(r1), requestId: "m1" }
      yield* leases.acquire(first)
      yield* leases.undo(first)
      yield* leases.acquire(first)
      yield* leases.free(claim(r1))
      assert.match((yield* Effect.flip(leases.acquire(first))).message, /its request is over/)
      assert.deepStrictEqual(yield* leases.runs, new Set())
      yield* leases.acquire({ ...claim(r2), requestId: "m1" })
      yield* leases.free(claim(r2))
      yield* leases.acquire({ ...claim(r1), requestId: "m2" })
    })
  )

  it.effect("is freed with all others of its run by any host, when nobody knows which leases the run has", () =>
    Effect.gen(function* () {
      const { hostOf } = yield* world
      const [h1, h2] = [yield* hostOf("h1"), yield* hostOf("h2")]
      yield* h1.acquire(claim(r1))
      yield* h2.acquire({ ...claim(r1), leaseId: "its-second-tree" })
      yield* h1.acquire({ ...claim(r2), leaseId: "of-another" })
      yield* h2.freeAll(r1)
      assert.deepStrictEqual([yield* h1.runs, yield* h2.runs], [new Set([r2]), new Set()])
      yield* h1.acquire(claim(r2))
    })
  )

  it.effect("lasts while its host is alive, however long the run waits", () =>
    Effect.gen(function* () {
      const hourMs = 3_600_000
      const { hostOf } = yield* worldWith({ ttlMs: 4 * hourMs, renewMs: hourMs })
      const h1 = yield* hostOf("h1")
      const h2 = yield* hostOf("h2")
      yield* h1.acquire(claim(r1))
      yield* TestClock.adjust("8 days")
      assert.strictEqual((yield* Effect.flip(h2.acquire(claim(r2))))._tag, "InUse")
    })
  )

  it.effect("expires when its host is gone, and the run learns that when its host comes back", () =>
    Effect.gen(function* () {
      const { hostOf } = yield* world
      const h2 = yield* hostOf("h2")
      yield* Effect.scoped(Effect.flatMap(hostOf("h1"), (h1) => h1.acquire(claim(r1))))
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual((yield* Effect.flip(h2.acquire(claim(r2))))._tag, "InUse")
      yield* TestClock.adjust("1 milli")
      yield* h2.acquire(claim(r2))
      const again = yield* hostOf("h1")
      assert.match((yield* Effect.flip(again.check(claim(r1)))).message, /in use by run r2 on host h2/)
      yield* again.free(claim(r1))
      yield* h2.check(claim(r2))
    })
  )

  it.effect("is renewed by its host after a restart, before any other run can take it", () =>
    Effect.gen(function* () {
      const { hostOf } = yield* world
      yield* Effect.scoped(Effect.flatMap(hostOf("h1"), (h1) => h1.acquire(claim(r1))))
      yield* TestClock.adjust("10 minutes")
      const again = yield* hostOf("h1")
      assert.match((yield* Effect.flip(again.acquire(claim(r2)))).message, /in use by run r1/)
    })
  )

  it.effect("is replaced when its record cannot be read", () =>
    Effect.gen(function* () {
      const { broker, hostOf } = yield* world
      yield* broker.views.put("lease.tree", '{"runId":')
      const leases = yield* hostOf("h1")
      yield* leases.acquire(claim(r1))
      yield* leases.check(claim(r1))
    })
  )
})
