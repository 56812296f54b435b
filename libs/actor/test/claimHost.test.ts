/** A host's name belongs to one process at a time, for each service. */
import { assert, describe, it } from "@effect/vitest"
import { Host, subjects } from "@reprise/protocol"
import { Clock, Effect, Exit, Fiber, Scope, SubscriptionRef } from "effect"
import type { BrokerShape } from "../src/broker/Broker.ts"
import { BrokerFault } from "../src/broker/faults.ts"
import { Broker, HostTaken, workerLayer } from "../src/index.ts"
import { claimHost, readClaim, takenOver, withDrained } from "../src/runtime/claimHost.ts"
import { CounterWork } from "./support/Counter.ts"
import { noteLog } from "./support/noteLog.ts"
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
      assert.include(refused.message, "Another gate already does the work of host 'here'")
      assert.include(refused.message, "REPRISE_HOST")
      yield* Scope.close(first, Exit.void)
      yield* world.start(workerOf("here"))
    })
  )

  it.effect("is not an obstacle to other hosts and other services", () =>
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

/** A story on a broker in memory, in virtual time that passes. */
const onBroker = <A, E>(story: Effect.Effect<A, E, Broker | Scope.Scope>) =>
  Effect.gen(function* () {
    const world = yield* memoryWorld()
    const scope = yield* Effect.scope
    return yield* story.pipe(Effect.provide(yield* world.start()), Scope.provide(scope))
  })

const here = Host.make("here")
const key = "host.gate.here"
const answersAt = (instance: string) => `${subjects("t").worker("gate", here)}.${instance}`
const stored = Broker.use(({ views }) => Effect.map(views.get(key), (found) => readClaim(found?.value)))
const store = (claim: string) => Broker.use(({ views }) => views.put(key, claim))

/** A process of a gate that claims the name, on a broker of which some parts may be replaced. */
const claiming = (how: (broker: BrokerShape) => Partial<BrokerShape> = () => ({})) =>
  Broker.use((broker) => claimHost({ ...broker, ...how(broker) }, subjects("t"), "gate", here))

/** Notes whom a process asks whether it is there. */
const notingRequests =
  (asked: Array<readonly [string, string]>, answer?: BrokerShape["request"]) =>
  ({ request }: BrokerShape): Partial<BrokerShape> => ({
    request: (subject, text) => {
      asked.push([subject, text])
      return (answer ?? request)(subject, text)
    }
  })

describe("a process that claims a host's name", () => {
  it.effect("asks nobody when the name is free, and says under which name it answers for itself", () =>
    onBroker(
      Effect.gen(function* () {
        const [asked, served]: [Array<readonly [string, string]>, Array<unknown>] = [[], []]
        yield* claiming((broker) => ({
          ...notingRequests(asked)(broker),
          serve: (name, handlers) => {
            served.push([name, ...Object.keys(handlers)])
            return broker.serve(name, handlers)
          }
        }))
        const { instance } = (yield* stored) ?? { instance: "" }
        assert.deepStrictEqual([asked, served], [[], [["gate-host", answersAt(instance)]]])
        assert.strictEqual(yield* Broker.use(({ request }) => request(answersAt(instance), "")), "")
      })
    )
  )

  it.effect("asks the process that has it, and takes it when that one does not answer", () => {
    const lines: Array<string> = []
    return onBroker(
      Effect.gen(function* () {
        const asked: Array<readonly [string, string]> = []
        yield* store('{"instance":"other"}')
        const silent = () => new BrokerFault({ operation: "ask", cause: "no answer" })
        yield* claiming(notingRequests(asked, silent))
        assert.deepStrictEqual(asked, [[answersAt("other"), ""]])
        assert.notStrictEqual((yield* stored)?.instance, "other")
        const said = "the process that has this host's name does not answer: The broker failed (ask): no answer"
        assert.deepStrictEqual(lines, [said])
      })
    ).pipe(Effect.provide(noteLog(lines)))
  })

  it.effect("waits ten seconds for the process that has it to end, and no longer", () =>
    onBroker(
      Effect.gen(function* () {
        const first = yield* Scope.make()
        yield* Scope.provide(claiming(), first)
        const since = yield* Clock.currentTimeMillis
        assert.instanceOf(yield* Effect.flip(claiming()), HostTaken)
        assert.isAtLeast((yield* Clock.currentTimeMillis) - since, 10_000)
        const second = yield* Effect.forkScoped(claiming())
        yield* Effect.sleep("9 seconds")
        assert.isUndefined(second.pollUnsafe())
        yield* Scope.close(first, Exit.void)
        yield* Fiber.join(second)
      })
    )
  )

  it.effect("has it although the answer to its claim was lost, since what is stored is its own", () =>
    onBroker(
      Effect.gen(function* () {
        let puts = 0
        yield* claiming(({ views }) => ({
          views: {
            ...views,
            put: (...args) => {
              puts += 1
              const lost = new BrokerFault({ operation: "write", cause: "no answer" })
              return puts === 1 ? Effect.andThen(views.put(...args), lost) : views.put(...args)
            }
          }
        }))
        assert.strictEqual(puts, 2)
      })
    )
  )

  it.effect("looks again when another process was first, which may have ended since", () =>
    onBroker(
      Effect.gen(function* () {
        let puts = 0
        const since = yield* Clock.currentTimeMillis
        const { drainedAt } = yield* claiming(({ views }) => ({
          views: {
            ...views,
            put: (...args) => {
              puts += 1
              const rival = views.put(key, '{"instance":"rival","drainedAt":"2026-01-01T00:00:00.000Z"}', 0)
              return puts === 1 ? Effect.andThen(rival, views.put(...args)) : views.put(...args)
            }
          }
        }))
        assert.strictEqual(yield* SubscriptionRef.get(drainedAt), "2026-01-01T00:00:00.000Z")
        assert.isBelow((yield* Clock.currentTimeMillis) - since, 500, "it waits for nobody")
        assert.notStrictEqual((yield* stored)?.instance, "rival")
      })
    )
  )
})

describe("a process that has a host's name", () => {
  it.effect("stores once that it is drained, with the time", () =>
    onBroker(
      Effect.gen(function* () {
        let puts = 0
        const { drainedAt, setDrained } = yield* claiming(({ views }) => ({
          views: {
            ...views,
            put: (...args) => {
              puts += 1
              return views.put(...args)
            }
          }
        }))
        const now = new Date(yield* Clock.currentTimeMillis).toISOString()
        yield* setDrained(true)
        yield* setDrained(true)
        assert.strictEqual(yield* SubscriptionRef.get(drainedAt), now)
        assert.strictEqual((yield* stored)?.drainedAt, now)
        yield* setDrained(false)
        assert.isUndefined(yield* SubscriptionRef.get(drainedAt))
        assert.strictEqual(puts, 3)
      })
    )
  )

  it.effect.each([
    ["another process has taken it", '{"instance":"other"}'],
    ["nobody can read who has it", "{}"]
  ] as const)("cannot be drained any more when %s, and leaves what is stored", ([, claim]) =>
    onBroker(
      Effect.gen(function* () {
        const { setDrained } = yield* claiming()
        yield* store(claim)
        assert.instanceOf(yield* Effect.flip(setDrained(true)), HostTaken)
        assert.strictEqual((yield* Broker.use(({ views }) => views.get(key)))?.value, claim)
      })
    )
  )

  it.effect("cannot be drained when the name was removed, or is taken in that moment", () =>
    onBroker(
      Effect.gen(function* () {
        let taken = 0
        const { setDrained } = yield* claiming(({ views }) => ({
          views: { ...views, put: (at, text, revision) => views.put(at, text, (revision ?? 0) + taken) }
        }))
        taken = 1
        assert.instanceOf(yield* Effect.flip(setDrained(true)), HostTaken)
        taken = 0
        yield* Broker.use(({ views }) => views.remove(key))
        assert.instanceOf(yield* Effect.flip(setDrained(true)), HostTaken)
      })
    )
  )
})

describe("a host's claim", () => {
  const [now, later] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"]

  it("keeps the time of the first drain, whoever takes the host's name and however often it is drained", () => {
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
