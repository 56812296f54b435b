/** What becomes of every kind of input. */
import { assert, describe } from "@effect/vitest"
import { type Key, type MessageMeta, PublicEvent, RunId, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import { actorLayer, Broker, drain, Messenger } from "../../src/index.ts"
import { counter, counterLayer, toCounter } from "./Counter.ts"
import { losesAcknowledgements, makeStop, misbehaving, stopsBeforeAppending } from "./misbehave.ts"
import { deadLettersOf, eventsSoFar, followNow, journalOf, send, sendAll, show } from "./observe.ts"
import { type Stage, waitUntil } from "./systems.ts"

const s = subjects("t")
const count = actorLayer(counter)

const meta = (id: string, type: string): MessageMeta => ({
  id,
  type,
  source: "/test",
  subject: "r1",
  time: "2026-01-01T00:00:00.000Z"
})

/** Stores a message as someone would who does not know the protocol. */
const storeRaw = (key: Key, id: string, type: string, body: string, more: Partial<MessageMeta> = {}) =>
  Broker.use((broker) =>
    broker.publish([{ subject: s.command("gate", key), body, meta: { ...meta(id, type), ...more } }])
  )

const paused = (run: string) => PublicEvent.cases.RunPaused.make({ runId: RunId.make(run) })

export const inputSuite = (name: string, { open, test }: Stage) =>
  describe(name, () => {
    test("an actor is in the list before anybody hears of it", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const done: Array<string> = []
        const note = (what: string) => Effect.sync(() => done.push(what))
        const noting = misbehaving(count, ({ publish, views }) => ({
          publish: (messages) => Effect.andThen(note("sent"), publish(messages)),
          views: { ...views, put: (...args) => Effect.tap(views.put(...args), note("listed")) }
        }))
        const one = yield* world.start(noting)
        yield* Effect.andThen(sendAll("a", [1]), drain).pipe(Effect.provide(one))
        assert.deepStrictEqual(done, ["listed", "sent"])
      }).pipe(Effect.scoped))

    test("publishes a refusal under an id that derives from the command's, and records nothing", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* send(toCounter("a").Forbidden(), "no")
          yield* sendAll("a", [1])
          yield* drain
          const refusals = yield* eventsSoFar(["CommandRefused"])
          assert.deepStrictEqual(
            refusals.map((refusal) => [refusal.meta.id, refusal.meta.causation, refusal.event]),
            [
              [
                "no.refused",
                "no",
                {
                  _tag: "CommandRefused",
                  runId: RunId.make("a"),
                  command: "Forbidden",
                  code: "closed",
                  reason: "It is forbidden."
                }
              ]
            ]
          )
          assert.deepStrictEqual(
            (yield* journalOf("a")).map(({ input }) => input.id),
            ["a-1"]
          )
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("a command that was refused before a crash stays refused", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const watching = yield* world.start()
        yield* Effect.gen(function* () {
          yield* world.start(misbehaving(count, losesAcknowledgements))
          yield* send(toCounter("a").Forbidden(), "no").pipe(Effect.provide(watching))
          yield* waitUntil(Effect.map(eventsSoFar(["CommandRefused"]), (seen) => seen.length === 1)).pipe(
            Effect.provide(watching)
          )
        }).pipe(Effect.scoped)
        // The other process would accept it.
        const lenient = counterLayer({
          decide: (state, _input, d) => counter.decide(state, { _tag: "Add", n: 1 }, d)
        })
        const two = yield* world.start(lenient)
        yield* drain.pipe(Effect.provide(two))
        assert.deepStrictEqual(yield* journalOf("a").pipe(Effect.provide(two)), [])
      }).pipe(Effect.scoped))

    test("records nothing for an input that does not concern the actor", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* send(toCounter("a").Ignored(), "nothing")
          yield* drain
          assert.deepStrictEqual(yield* journalOf("a"), [])
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("sets aside an input whose decide or react throws, and goes on with the queue", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* sendAll("a", [1])
          yield* send(toCounter("a").Explode(), "bang")
          yield* send(toCounter("a").ExplodeLater(), "later")
          yield* sendAll("a", [2])
          yield* drain
          const letters = yield* deadLettersOf("a")
          assert.deepStrictEqual(
            letters.map(({ headers, reason }) => [headers["ce-id"], /exploded/.test(reason)]),
            [
              ["bang", true],
              ["later", true]
            ]
          )
          assert.deepStrictEqual(yield* show("a"), { total: 3, steps: 2 })
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("sets aside what cannot be read, in the schema's own words, and the actor goes on", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* storeRaw("a", "not-json", "Add", "{")
          yield* storeRaw("a", "not-object", "Add", "[1]")
          yield* storeRaw("a", "no-n", "Add", `{"n":"two"}`)
          yield* storeRaw("a", "what", "Unheard", "{}")
          yield* storeRaw("a", "no-type", "not a type", "{}")
          yield* storeRaw("a", "extra", "Add", `{"n":5,"more":{"fields":true}}`)
          yield* drain
          const letters = yield* deadLettersOf("a")
          const reasons = new Map(letters.map(({ headers, reason }) => [headers["ce-id"], reason]))
          assert.deepStrictEqual([...reasons.keys()].sort(), ["no-n", "no-type", "not-json", "not-object", "what"])
          const all = yield* Messenger.use((messenger) => messenger.deadLetters())
          assert.deepStrictEqual(
            all.map(({ content }) => content),
            letters
          )
          assert.match(reasons.get("no-n") ?? "", /Expected number\s+at \["n"\]/)
          assert.match(reasons.get("not-json") ?? "", /not JSON/)
          assert.strictEqual(letters.find(({ headers }) => headers["ce-id"] === "no-n")?.body, `{"n":"two"}`)
          assert.deepStrictEqual(yield* show("a"), { total: 5, steps: 1 })
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("answers a command that cannot be read with a refusal too, so that its sender hears of it", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* storeRaw("a", "no-n", "Add", `{"n":"two"}`)
          yield* storeRaw("a", "what", "Unheard", "{}", { subject: "not a run" })
          yield* storeRaw("a", "no-type", "not a type", "{}")
          yield* drain
          const refusals = yield* eventsSoFar(["CommandRefused"])
          assert.deepStrictEqual(
            refusals.map(({ event, meta }) => [
              meta.causation,
              event._tag === "CommandRefused" && [event.runId, event.command, event.reason.split("\n")[0]]
            ]),
            [
              ["no-n", ["r1", "Add", "The body does not match Add: Expected number"]],
              ["what", ["a", "Unheard", "Messages of type Unheard are not taken here."]]
            ]
          )
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("sets aside a command that was delivered too often without ever finishing", () =>
      Effect.gen(function* () {
        const world = yield* open({ maxDeliveries: 2 })
        const watching = yield* world.start()
        yield* sendAll("a", [1]).pipe(Effect.provide(watching))
        for (let deaths = 0; deaths < 2; deaths++) {
          yield* Effect.gen(function* () {
            const stop = yield* makeStop
            yield* world.start(misbehaving(count, stopsBeforeAppending(stop)))
            yield* stop.reached
          }).pipe(Effect.scoped)
        }
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* sendAll("a", [2])
          yield* drain
          const [letter] = yield* deadLettersOf("a")
          assert.match(letter?.reason ?? "", /delivered 3 times/)
          assert.deepStrictEqual(yield* show("a"), { total: 2, steps: 1 })
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))

    test("an actor that hangs holds up no other", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const hangs = misbehaving(count, (broker) => ({
          append: (message, expected) =>
            message.subject.endsWith(".poison") ? Effect.never : broker.append(message, expected)
        }))
        const one = yield* world.start(hangs)
        yield* Effect.gen(function* () {
          yield* sendAll(
            "poison",
            Array.from({ length: 50 }, (_, n) => n)
          )
          yield* sendAll("well", [1, 2, 3])
          yield* waitUntil(Effect.map(journalOf("well"), (journal) => journal.length === 3))
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("routes the events it listens to, once each, and leaves the others", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          const messenger = yield* Messenger
          yield* messenger.publish("orchestrator", paused("a"), { id: "pause-a" })
          yield* messenger.publish("orchestrator", paused("a"), { id: "pause-a" })
          yield* messenger.publish("orchestrator", paused("nobody"))
          yield* messenger.publish("orchestrator", PublicEvent.cases.RunCompleted.make({ runId: RunId.make("a") }))
          yield* drain
          assert.deepStrictEqual(
            (yield* journalOf("a")).map(({ input }) => input),
            [{ id: "pause-a", type: "RunPaused" }]
          )
          assert.deepStrictEqual(yield* journalOf("nobody"), [])
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("ignores a snapshot of another version and replays the journal", () =>
      Effect.gen(function* () {
        const world = yield* open({ snapshotEvery: 2 })
        yield* Effect.gen(function* () {
          const one = yield* world.start(count)
          yield* sendAll("a", [1, 2, 3]).pipe(Effect.andThen(drain), Effect.provide(one))
        }).pipe(Effect.scoped)
        const twice = {
          ...counter,
          snapshotVersion: 2,
          view: (state: typeof counter.initial) => ({ total: state.total * 2, steps: state.steps, status: "new" })
        }
        const two = yield* world.start(actorLayer(twice))
        assert.deepStrictEqual(yield* show("a").pipe(Effect.provide(two)), { total: 12, steps: 3 })
      }).pipe(Effect.scoped))

    test("carries a command of a megabyte through journal and snapshot", () =>
      Effect.gen(function* () {
        const world = yield* open({ snapshotEvery: 1 })
        const text = "x".repeat(1_200_000)
        yield* Effect.gen(function* () {
          const one = yield* world.start(count)
          yield* send(toCounter("a").Keep({ text }), "big").pipe(Effect.andThen(drain), Effect.provide(one))
        }).pipe(Effect.scoped)
        const length = {
          ...counter,
          view: (state: typeof counter.initial) => ({ total: state.text.length, steps: state.steps, status: "" })
        }
        const two = yield* world.start(actorLayer(length))
        assert.deepStrictEqual(yield* show("a").pipe(Effect.provide(two)), { total: text.length, steps: 1 })
      }).pipe(Effect.scoped))

    test("answers queries with read models, filtered, and says what is missing", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          const messenger = yield* Messenger
          yield* sendAll("a", [1, 2])
          yield* sendAll("b", [20])
          yield* drain
          const little = { total: 3, steps: 2, status: "little" }
          const much = { total: 20, steps: 1, status: "much" }
          const all = yield* messenger.query("gate", "list", {})
          assert.sameDeepMembers(Array.isArray(all) ? all : [], [little, much])
          assert.deepStrictEqual(yield* messenger.query("gate", "list", { status: "much" }), [much])
          assert.deepStrictEqual(yield* messenger.query("gate", "show", { id: "a" }), little)
          const code = (query: Effect.Effect<unknown, { readonly code: string }, never>) =>
            Effect.map(Effect.flip(query), (failed) => failed.code)
          assert.strictEqual(yield* code(messenger.query("gate", "show", { id: "nobody" })), "not-found")
          assert.strictEqual(yield* code(messenger.query("gate", "show", { id: "a.*" })), "not-found")
          assert.strictEqual(yield* code(messenger.query("gate", "show", {})), "bad-request")
          assert.strictEqual(yield* code(messenger.query("workspace", "list", {})), "not-running")
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("refuses to send what does not match its schema, or has no valid key", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start()
        yield* Effect.gen(function* () {
          const messenger = yield* Messenger
          const bad = yield* Effect.flip(
            messenger.send({ service: "orchestrator", key: "r1", command: { _tag: "AbortRun", ...{ runId: "r1" } } })
          )
          assert.match(bad.message, /AbortRun was not sent: [\s\S]*reason/)
          const key = yield* Effect.flip(messenger.send(toCounter("a.>").Add({ n: 1 })))
          assert.match(key.message, /cannot be part of a subject/)
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("gives edges the events they ask for, from now on", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start()
        yield* Effect.gen(function* () {
          const messenger = yield* Messenger
          yield* messenger.publish("orchestrator", paused("r1"))
          const seen = yield* followNow({ runId: "r1", services: ["gate", "orchestrator"] })
          yield* messenger.publish("orchestrator", paused("r2"))
          yield* messenger.publish("workspace", paused("r1"))
          yield* messenger.publish("gate", paused("r1"), { id: "x", causation: "y" })
          yield* messenger.publish("orchestrator", paused("r1"), { id: "z" })
          yield* waitUntil(Effect.sync(() => seen.some((event) => event.meta.id === "z")))
          const events = seen.filter(({ event }) => event._tag === "RunPaused")
          assert.deepStrictEqual(
            events.map((event) => [event.meta.id, event.meta.causation]),
            [
              ["x", "y"],
              ["z", undefined]
            ]
          )
          assert.isBelow(events[0]?.sequence ?? 0, events[1]?.sequence ?? 0)
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))
  })
