/** What a worker answers for its host, also where the broker or what is stored is not as it should be. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, Host, subjects } from "@reprise/protocol"
import { Effect, Fiber, type Scope, Stream, SubscriptionRef } from "effect"
import { TestClock } from "effect/testing"
import { Broker, type BrokerShape } from "../src/broker/Broker.ts"
import { BrokerFault } from "../src/broker/faults.ts"
import { HostTaken, MemoryBroker } from "../src/index.ts"
import type { ClaimedHost } from "../src/runtime/claimHost.ts"
import { serveHost } from "../src/runtime/serveHost.ts"
import { noteLog } from "./support/noteLog.ts"

const s = subjects("t")
const host = Host.make("here")
const now = "2026-01-01T00:00:00.000Z"
const fault = new BrokerFault({ operation: "look", cause: "no answer" })
const trouble = {
  ok: false,
  error: {
    code: "broker",
    message: "The broker failed (look): no answer",
    hint: "Try again; 'reprise doctor' shows what is wrong."
  }
}

const request = (subject: string, text = "") => Broker.use((broker) => broker.request(subject, text))
const asked = (subject: string, text?: string) =>
  Effect.map(request(subject, text), (answer): unknown => JSON.parse(answer ?? '"nobody"'))
const hosts = asked(s.api("gate", "hosts"))
const doesAny = Effect.map(request(s.worker("gate", anyHost)), (answer) => answer !== undefined)

const always = { takesAny: () => true, changes: Stream.empty }
const takingUntil = (drainedAt: ClaimedHost["drainedAt"]) => ({
  takesAny: () => SubscriptionRef.getUnsafe(drainedAt) === undefined,
  changes: SubscriptionRef.changes(drainedAt)
})

/** A worker of the gate on this host, on a broker of which some parts may be replaced. */
const working = Effect.fnUntraced(function* (
  setDrained: ClaimedHost["setDrained"] = () => Effect.void,
  how: (broker: BrokerShape) => Partial<BrokerShape> = () => ({}),
  since?: string
) {
  const broker = yield* Broker
  const drainedAt = yield* SubscriptionRef.make(since)
  const serving = { broker: { ...broker, ...how(broker) }, subjects: s, service: "gate", host } as const
  yield* serveHost(serving, { drainedAt, setDrained }, takingUntil(drainedAt))
  /** Returns when the worker has followed. */
  const setSince = (next: string | undefined) => Effect.andThen(SubscriptionRef.set(drainedAt, next), settled)
  return { drainedAt, setSince }
})

/** Fibers that can go on have done so. */
const settled = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

const story = <A, E>(test: Effect.Effect<A, E, Broker | Scope.Scope>) =>
  test.pipe(Effect.provide(MemoryBroker.layer), Effect.scoped)

describe("the hosts of a service", () => {
  it.effect("are those that claimed a name, with whether they answer and when they were drained", () =>
    story(
      Effect.gen(function* () {
        const { views } = yield* Broker
        yield* working()
        yield* views.put("host.gate.here", JSON.stringify({ instance: "i1" }))
        yield* views.put("host.gate.there", JSON.stringify({ instance: "i2", drainedAt: now }))
        yield* views.put("host.gate.unreadable", "{}")
        yield* views.put("host.gate.no host", JSON.stringify({ instance: "i3" }))
        yield* views.put("host.reviewer.other", JSON.stringify({ instance: "i4" }))
        const data = [
          { host: "here", answers: true },
          { host: "there", answers: false, drainedAt: now },
          { host: "unreadable", answers: false }
        ]
        assert.deepStrictEqual(yield* hosts, { ok: true, data })
      })
    )
  )

  it.effect("are asked side by side: those that are too busy to answer hold up the answer for a second together", () =>
    story(
      Effect.gen(function* () {
        yield* working(undefined, () => ({ request: () => Effect.never }))
        const { views } = yield* Broker
        for (const name of ["here", "there"]) yield* views.put(`host.gate.${name}`, "{}")
        const asking = yield* Effect.forkChild(hosts)
        yield* TestClock.adjust("1 second")
        const data = ["here", "there"].map((name) => ({ host: name, answers: true }))
        assert.deepStrictEqual(yield* Fiber.join(asking), { ok: true, data })
      })
    )
  )

  it.effect("are told without whether they answer when the broker does not say", () =>
    story(
      Effect.gen(function* () {
        yield* working(undefined, () => ({ request: () => fault }))
        yield* Broker.use(({ views }) => views.put("host.gate.here", "{}"))
        assert.deepStrictEqual(yield* hosts, { ok: true, data: [{ host: "here" }] })
      })
    )
  )

  it.effect("are not told when the broker fails: the answer says what to do, and the log what went wrong", () => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        yield* working(undefined, ({ views }) => ({ views: { ...views, list: () => fault } }))
        assert.deepStrictEqual(yield* hosts, trouble)
        assert.deepStrictEqual(lines, ["a host could not be asked or changed: The broker failed (look): no answer"])
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })
})

describe("a host that is asked to be drained, or to take work again", () => {
  const drain = (text: string) => asked(s.drain("gate", host), text)

  it.effect("says what it stored", () =>
    story(
      Effect.gen(function* () {
        const set = yield* SubscriptionRef.make<string | undefined>(undefined)
        const broker = yield* Broker
        const claimed: ClaimedHost = {
          drainedAt: set,
          setDrained: (drained) => SubscriptionRef.set(set, drained ? now : undefined)
        }
        yield* serveHost({ broker, subjects: s, service: "gate", host }, claimed, takingUntil(set))
        const drained = { host: "here", answers: true, drainedAt: now }
        assert.deepStrictEqual(yield* drain('{"drained":true}'), { ok: true, data: drained })
        const free = { host: "here", answers: true }
        assert.deepStrictEqual(yield* drain('{"drained":false}'), { ok: true, data: free })
      })
    )
  )

  it.effect("says what the query has to be when it cannot be read, and stays as it is", () =>
    story(
      Effect.gen(function* () {
        yield* working(() => Effect.die("it was changed"))
        for (const wrong of ["", "{}", '{"drained":"yes"}']) {
          const answer = yield* drain(wrong)
          assert.containSubset(answer, {
            ok: false,
            error: { code: "bad-request", hint: 'drain takes {"drained": true}.' }
          })
          const { error } = answer as { readonly error: { readonly message: string } }
          assert.match(error.message, /^The query cannot be read: ./)
        }
      })
    )
  )

  it.effect("says that another process has its name", () =>
    story(
      Effect.gen(function* () {
        const taken = new HostTaken({ service: "gate", host: "here" })
        yield* working(() => taken)
        const error = { code: "host-taken", message: taken.message, hint: "Try again in a moment." }
        assert.deepStrictEqual(yield* drain('{"drained":true}'), { ok: false, error })
      })
    )
  )

  it.effect("says that the broker fails", () =>
    story(
      Effect.gen(function* () {
        yield* working(() => fault)
        assert.deepStrictEqual(yield* drain('{"drained":true}'), trouble)
      })
    )
  )
})

describe("work that any host may do", () => {
  it.effect("has somebody who does it while the host takes it, however often that changes", () =>
    story(
      Effect.gen(function* () {
        const { setSince } = yield* working()
        for (const [since, does] of [
          [undefined, true],
          [now, false],
          ["2026-01-02T00:00:00.000Z", false],
          [undefined, true],
          [now, false]
        ] as const) {
          yield* setSince(since)
          assert.strictEqual(yield* doesAny, does, String(since))
        }
        assert.strictEqual(yield* request(s.worker("gate", host)), "", "work of its own has somebody all the time")
      })
    )
  )

  it.effect("has nobody where the host was drained before its worker started", () =>
    story(
      Effect.gen(function* () {
        const { setSince } = yield* working(undefined, undefined, now)
        assert.isFalse(yield* doesAny)
        yield* setSince(undefined)
        assert.isTrue(yield* doesAny)
      })
    )
  )

  it.effect("is answered for once by each worker, under a name that administrators see", () =>
    story(
      Effect.gen(function* () {
        const served: Array<readonly [string, number]> = []
        const { setSince } = yield* working(undefined, (broker) => ({
          serve: (name, handlers) =>
            Effect.suspend(() => {
              served.push([name, Object.keys(handlers).length])
              return broker.serve(name, handlers)
            })
        }))
        yield* setSince(undefined)
        assert.deepStrictEqual(served, [
          ["gate-worker", 3],
          ["gate-worker", 1]
        ])
      })
    )
  )

  it.effect("has somebody where a worker has no host of its own", () =>
    story(
      Effect.gen(function* () {
        const broker = yield* Broker
        yield* serveHost({ broker, subjects: s, service: "gate", host: anyHost }, undefined, always)
        assert.strictEqual(yield* request(s.worker("gate", anyHost)), "")
        assert.strictEqual(yield* hosts, "nobody")
      })
    )
  )

  it.effect("goes untold when the broker fails as the host takes it again: the log says so", () => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        let fails = false
        const { setSince } = yield* working(undefined, ({ serve }) => ({
          serve: (name, handlers) => Effect.suspend(() => (fails ? fault : serve(name, handlers)))
        }))
        yield* setSince(now)
        fails = true
        yield* setSince(undefined)
        assert.isFalse(yield* doesAny)
        assert.deepStrictEqual(lines, ["who does work for any host is not told: The broker failed (look): no answer"])
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })
})
