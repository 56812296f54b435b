/** A host's name belongs to one process at a time, for each service. */
import { assert, describe, it } from "@effect/vitest"
import { Host } from "@reprise/protocol"
import { Effect, Exit, Fiber, Scope } from "effect"
import { Broker, HostTaken, workerLayer } from "../src/index.ts"
import { readClaim, takenOver, withDrained } from "../src/runtime/claimHost.ts"
import { CounterWork } from "./support/Counter.ts"
import { memoryWorld } from "./support/systems.ts"

const workerOf = (name: string, service: "gate" | "workspace" = "gate") =>
  workerLayer({ service, host: Host.make(name), work: CounterWork, handle: () => Effect.void })

const isTaken = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) && exit.cause.reasons.some((one) => one._tag === "Fail" && one.error instanceof HostTaken)

describe("the name of a host", () => {
  it.effect("is refused to a second process, which is told what to do, and free when the first has ended", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const first = yield* Scope.make()
      yield* Scope.provide(world.start(workerOf("here")), first)
      const refused = yield* Effect.flip(world.start(workerOf("here")))
      assert.instanceOf(refused, HostTaken)
      assert.include(String(refused), "REPRISE_HOST")
      yield* Scope.close(first, Exit.void)
      yield* world.start(workerOf("here"))
    })
  )

  it.effect("is no obstacle to other hosts and other services", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      yield* world.start(workerOf("here"))
      yield* world.start(workerOf("there"))
      yield* world.start(workerOf("here", "workspace"))
    })
  )

  it.effect("goes to one of two processes that start at once", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const scope = yield* Effect.scope
      const start = Effect.exit(Scope.provide(world.start(workerOf("here")), scope))
      const fibers = yield* Effect.forEach([start, start, start], (one) => Effect.forkScoped(one))
      const exits = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.strictEqual(exits.filter(isTaken).length, 2)
    })
  )

  it.effect("passes on at once when its process was killed", () =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const { views } = yield* Broker.pipe(Effect.provide(yield* world.start()))
      yield* views.put("host.gate.here", JSON.stringify({ instance: "killed" }), 0)
      yield* world.start(workerOf("here"))
      const claim = yield* views.get("host.gate.here")
      assert.notInclude(claim?.value, "killed")
    })
  )
})

describe("a host's claim", () => {
  const [now, later] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"]

  it("keeps since when the host is drained, whoever takes its name and however often it is drained", () => {
    const drained = { instance: "one", drainedAt: now }
    const rows = [
      [takenOver(undefined, "two"), { instance: "two" }],
      [takenOver({ instance: "one" }, "two"), { instance: "two" }],
      [takenOver(drained, "two"), { instance: "two", drainedAt: now }],
      [withDrained({ instance: "one" }, true, now), drained],
      [withDrained(drained, true, later), drained],
      [withDrained(drained, false, later), { instance: "one" }],
      [withDrained({ instance: "one" }, false, later), { instance: "one" }]
    ] as const
    for (const [is, expected] of rows) assert.deepStrictEqual(is, expected)
  })

  it("is read as older versions wrote it, and is none where it cannot be read", () => {
    assert.deepStrictEqual(readClaim('{"instance":"one"}'), { instance: "one" })
    for (const unreadable of [undefined, "", "{}", "[1]"]) assert.isUndefined(readClaim(unreadable))
  })
})
