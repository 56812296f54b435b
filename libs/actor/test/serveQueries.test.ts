/** What `list` and `show` answer, also where what is stored is not as it should be. */
import { assert, describe, it } from "@effect/vitest"
import { Host, subjects } from "@reprise/protocol"
import { Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Broker, type BrokerShape } from "../src/broker/Broker.ts"
import { BrokerFault } from "../src/broker/faults.ts"
import { PoisonMessage } from "../src/DeadLetter.ts"
import { MemoryBroker, serveStoredViews } from "../src/index.ts"
import { makeKeyedQueues } from "../src/runtime/KeyedQueues.ts"
import { type Queries, serveQueries } from "../src/runtime/serveQueries.ts"
import { Undecodable } from "../src/wire.ts"
import { noteLog } from "./support/noteLog.ts"

const s = subjects("t")
const fault = new BrokerFault({ operation: "read a view", cause: "no answer" })

/** A gate's queries on a broker of their own, of which some parts may be replaced. */
const gate = Effect.fnUntraced(function* (
  options: Partial<Queries> = {},
  how: (broker: BrokerShape) => Partial<BrokerShape> = () => ({})
) {
  const shared = yield* Broker
  const broker = { ...shared, ...how(shared) }
  const unstored = () => new Map()
  yield* serveQueries({ service: "gate", subjects: s, queues: yield* makeKeyedQueues(), unstored, broker, ...options })
  const ask = (query: "list" | "show", request: string) =>
    Effect.map(shared.request(s.api("gate", query), request), (text): unknown => text && JSON.parse(text))
  const store = (key: string, stored: unknown) => shared.views.put(`gate.${key}`, JSON.stringify(stored))
  return { ask, store }
})

const story = <A, E>(test: Effect.Effect<A, E, Broker | Scope.Scope>) =>
  test.pipe(Effect.provide(MemoryBroker.layer), Effect.scoped)

const found = (data: unknown) => ({ ok: true, data })
const failed = (code: string, message: string, hint: string) => ({ ok: false, error: { code, message, hint } })
const view = () => Effect.succeed({ state: "open" })

describe("list", () => {
  it.effect("gives the views that have each value of the filter, and leaves out what is not a view", () =>
    story(
      Effect.gen(function* () {
        const { ask, store } = yield* gate({ view })
        const [open, closed] = [
          { state: "open", n: 1 },
          { state: "closed", n: 2 }
        ]
        yield* store("a", { sequence: 1, view: open })
        yield* store("b", { sequence: 1, view: closed })
        yield* store("text", { sequence: 1, view: "open" })
        yield* store("nothing", { sequence: 1, view: null })
        yield* store("unreadable", { view: open })
        assert.deepStrictEqual(yield* ask("list", ""), found([open, closed]))
        assert.deepStrictEqual(yield* ask("list", "{}"), found([open, closed]))
        assert.deepStrictEqual(yield* ask("list", '{"state":"closed"}'), found([closed]))
        assert.deepStrictEqual(yield* ask("list", '{"state":"closed","runId":"r1"}'), found([]))
      })
    )
  )

  it.effect.each([
    ["is newer than the stored one", 8, { sequence: 7, view: { of: "stored" } }, "own"],
    ["is as new as the stored one", 7, { sequence: 7, view: { of: "stored" } }, "stored"],
    ["is older than what another process stored", 6, { sequence: 7, view: { of: "stored" } }, "stored"],
    ["stands against what cannot be read", 1, { view: {} }, "own"]
  ] as const)("gives the newest view when one that is not stored yet %s", ([, sequence, stored, expected]) =>
    story(
      Effect.gen(function* () {
        const unstored = () => new Map([["gate.a", { sequence, view: { of: "own" } }]])
        const { ask, store } = yield* gate({ view, unstored })
        yield* store("a", stored)
        assert.deepStrictEqual(yield* ask("list", ""), found([{ of: expected }]))
      })
    )
  )

  it.effect("is brief where it was asked to be, and the actor knows how", () =>
    story(
      Effect.gen(function* () {
        const long = { state: "open", evidence: "long" }
        const { ask, store } = yield* gate({ view, brief: () => ({ state: "open" }) })
        yield* store("a", { sequence: 1, view: long })
        assert.deepStrictEqual(yield* ask("list", "{}"), found([long]))
        assert.deepStrictEqual(yield* ask("list", '{"brief":false}'), found([long]))
        assert.deepStrictEqual(yield* ask("list", '{"brief":true}'), found([{ state: "open" }]))
      })
    )
  )

  it.effect("is as it is stored where the actor knows nothing briefer", () =>
    story(
      Effect.gen(function* () {
        const { ask, store } = yield* gate({ view })
        yield* store("a", { sequence: 1, view: { state: "open" } })
        assert.deepStrictEqual(yield* ask("list", '{"brief":true}'), found([{ state: "open" }]))
      })
    )
  )

  it.effect("says what a query has to be that cannot be read", () =>
    story(
      Effect.gen(function* () {
        const { ask } = yield* gate({ view })
        for (const [query, request] of [
          ["list", '{"state":1}'],
          ["list", "[]"],
          ["show", '{"id":1}'],
          ["show", ""]
        ] as const) {
          const answer = yield* ask(query, request)
          const hint = 'list takes {}, show takes {"id": …}.'
          assert.containSubset(answer, { ok: false, error: { code: "bad-request", hint } })
          const { error } = answer as { readonly error: { readonly message: string } }
          assert.match(error.message, /^The query cannot be read: ./)
        }
      })
    )
  )

  it.effect.each([
    ["the broker fails", () => fault, "a query was not answered: The broker failed (read a view): no answer"],
    ["reading it throws", () => Effect.die("oh"), "a query was not answered: oh"]
  ] as const)("says what to do when %s, and the log says why", ([, list, line]) => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        const { ask } = yield* gate({ view }, ({ views }) => ({ views: { ...views, list } }))
        const message = "The gate could not read its data from the broker."
        assert.deepStrictEqual(yield* ask("list", ""), failed("broker", message, "Run 'reprise doctor'."))
        assert.deepStrictEqual(
          lines.map((text) => text.replace("Error: ", "")),
          [line]
        )
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })

  it.effect("is answered by nobody for an actor that has no view", () =>
    story(
      Effect.gen(function* () {
        const { ask } = yield* gate()
        assert.isUndefined(yield* ask("list", ""))
        assert.isUndefined(yield* ask("show", '{"id":"a"}'))
      })
    )
  )

  it.effect("is answered from what is stored where no actor runs, and show by nobody", () =>
    story(
      Effect.gen(function* () {
        const broker = yield* Broker
        yield* broker.views.put("gate.a", '{"sequence":1,"view":{"state":"open"}}')
        yield* serveStoredViews({ service: "gate", broker, subjects: s })
        const listed = yield* broker.request(s.api("gate", "list"), "")
        assert.deepStrictEqual(JSON.parse(listed ?? ""), found([{ state: "open" }]))
        assert.isUndefined(yield* broker.request(s.api("gate", "show"), '{"id":"a"}'))
      })
    )
  )
})

describe("show", () => {
  const missing = (id: string) =>
    failed("not-found", `There is no '${id}' here.`, "Check the id; list shows those that exist.")

  it.effect("gives the view, with whether somebody does its work", () =>
    story(
      Effect.gen(function* () {
        const workOnHost = { by: ["gate"], hostOf: () => Host.make("here") } as const
        const { ask } = yield* gate({ view, workOnHost })
        assert.deepStrictEqual(yield* ask("show", '{"id":"a"}'), found({ state: "open", hosted: false }))
      })
    )
  )

  it.effect("says that there is none of that id, and quotes no more than 80 characters of it", () =>
    story(
      Effect.gen(function* () {
        const { ask } = yield* gate({ view: () => Effect.succeed(undefined) })
        assert.deepStrictEqual(yield* ask("show", '{"id":"a"}'), missing("a"))
        assert.deepStrictEqual(yield* ask("show", '{"id":"../x"}'), missing("../x"))
        const long = "x".repeat(90)
        assert.deepStrictEqual(yield* ask("show", JSON.stringify({ id: long })), missing(long.slice(0, 80)))
      })
    )
  )

  const badJournal = failed(
    "bad-journal",
    "The journal of escalation a cannot be read, so nothing can be done with it.",
    "'reprise repair RUN' ends its run, says what is lost, and keeps what is stored in .reprise/archive/."
  )
  const trouble = failed("broker", "The gate could not read its data from the broker.", "Run 'reprise doctor'.")
  it.effect.each([
    ["a journal that cannot be read", new PoisonMessage({ reason: "why" }), badJournal, "why"],
    ["a journal that is lost", new Undecodable({ reason: "why" }), badJournal, "why"],
    ["a broker that fails", fault, trouble, fault.message],
    ["an actor that throws", Effect.die("why"), trouble, "why"]
  ] as const)("says what to do about %s, and the log says why", ([, broken, expected, why]) => {
    const lines: Array<string> = []
    return story(
      Effect.gen(function* () {
        const { ask } = yield* gate({ view: () => broken })
        assert.deepStrictEqual(yield* ask("show", '{"id":"a"}'), expected)
        assert.lengthOf(lines, 1)
        assert.match(lines[0] ?? "", /^a query was not answered: ./)
        assert.include(lines[0], why)
      }).pipe(Effect.provide(noteLog(lines)))
    )
  })

  it.effect("waits in the queue of its actor for what is under way there", () =>
    story(
      Effect.gen(function* () {
        const queues = yield* makeKeyedQueues()
        const { ask } = yield* gate({ view, queues })
        let done = false
        queues.push(
          "a",
          Effect.delay(
            Effect.sync(() => (done = true)),
            "1 second"
          )
        )
        const wasDone = Effect.map(ask("show", '{"id":"a"}'), () => done)
        const shown = yield* Effect.forkChild(wasDone)
        yield* TestClock.adjust("1 second")
        assert.isTrue(yield* Fiber.join(shown))
      })
    )
  )
})
