/** What somebody on the same broker who keeps to no protocol can do to an actor: nothing. */
import { assert, describe, it } from "@effect/vitest"
import { jetstream } from "@nats-io/jetstream"
import { connect, headers } from "@nats-io/transport-node"
import { encodeMeta, PublicEvent, RunId, subjects } from "@reprise/protocol"
import { Effect } from "effect"
import { actorLayer, drain, Messenger } from "../src/index.ts"
import { counter, counterLayer } from "./support/Counter.ts"
import { deadLettersOf, eventsSoFar, journalOf, sendAll, show } from "./support/observe.ts"
import { jetStreamWorld, onServer } from "./support/systems.ts"

const s = subjects("t")
const count = actorLayer(counter)
const r1 = RunId.make("r1")

/** Listens to two kinds of events. */
const listener = counterLayer({
  subscription: { types: ["RunAborted", "RunPaused"], route: (event) => event.runId },
  decide: (state, _input, delivery) => counter.decide(state, { _tag: "Add", n: 1 }, delivery)
})

/** Stores messages as they are, with nothing of ours in between. */
const strangerAt = (url: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => connect({ servers: url })),
      (connection) => Effect.promise(() => connection.close())
    ),
    (connection) =>
      (subject: string, body: string, fields: Readonly<Record<string, string>> = {}) => {
        const envelope = headers()
        for (const [name, value] of Object.entries(fields)) envelope.set(name, value)
        return Effect.promise(() => jetstream(connection).publish(subject, body, { headers: envelope }))
      }
  )

const envelopeOf = (id: string, type: string) =>
  encodeMeta({ id, type, source: "/stranger/x", subject: "r1", time: "2026-01-01T00:00:00.000Z" })

onServer("a stranger on the broker", () => {
  describe("who names a body that is not there", () => {
    it.live.each(["body/nowhere", "session/of-somebody-else", "../../etc/passwd"])("(%s) holds nobody up", (object) =>
      Effect.gen(function* () {
        const world = yield* jetStreamWorld()
        const store = yield* strangerAt(world.server.url)
        const one = yield* world.start(count)
        yield* Effect.gen(function* () {
          const reference = { "reprise-body": object }
          yield* store(s.command("gate", "a"), "", { ...envelopeOf("lost", "Add"), ...reference })
          yield* store(s.event("gate", r1, "RunPaused"), "", { ...envelopeOf("lost-event", "RunPaused"), ...reference })
          yield* store(s.timer("gate", "a"), "", {
            ...envelopeOf("lost-timer", "Add"),
            ...reference,
            "reprise-due": "2026-01-01T00:00:00.000Z"
          })
          yield* sendAll("a", [1])
          const paused = PublicEvent.cases.RunPaused.make({ runId: r1 })
          yield* Messenger.use((messenger) => messenger.publish("orchestrator", paused, { id: "paused" }))
          yield* drain
          assert.deepStrictEqual(yield* show("a"), { total: 1, steps: 1 })
          assert.deepStrictEqual(
            (yield* journalOf("r1")).map(({ input }) => input.id),
            ["paused"]
          )
          const letters = [...(yield* deadLettersOf("a")), ...(yield* deadLettersOf("r1"))]
          assert.deepStrictEqual(letters.map(({ headers: of }) => of["ce-id"]).sort(), [
            "lost",
            "lost-event",
            "lost-timer"
          ])
          for (const { reason } of letters) assert.include(reason, `'${object}', and there is no such object`)
          const seen = yield* eventsSoFar(["RunPaused", "CommandRefused"])
          assert.deepStrictEqual(seen.map(({ meta }) => meta.id).sort(), ["lost.refused", "paused"])
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped)
    )
  })

  it.live("leaves dead letters that can be sent again and removed one by one", () =>
    Effect.gen(function* () {
      const world = yield* jetStreamWorld()
      const store = yield* strangerAt(world.server.url)
      const one = yield* world.start(count)
      yield* Effect.gen(function* () {
        const messenger = yield* Messenger
        const { "Nats-Msg-Id": _id, ...unknownId } = envelopeOf("unreadable", "Add")
        for (const body of ["first", "second"]) yield* store(s.command("gate", "a"), body, unknownId)
        yield* drain
        const [first, second] = yield* messenger.deadLetters()
        assert.deepStrictEqual([first?.content?.body, second?.content?.body], ["first", "second"])
        yield* messenger.dropDeadLetter(second?.sequence ?? 0)
        if (first === undefined) return assert.fail("there is no dead letter")
        yield* messenger.replayDeadLetter({ ...first, time: "2026-01-01T00:00:00.000Z" })
        yield* drain
        const letters = yield* messenger.deadLetters()
        assert.deepStrictEqual(
          letters.map(({ content }) => content?.body),
          ["first"]
        )
        assert.isAbove(letters[0]?.sequence ?? 0, second?.sequence ?? 0)
      }).pipe(Effect.provide(one))
    }).pipe(Effect.scoped)
  )

  it.live("who publishes an event that is none finds it among the dead letters of its run", () =>
    Effect.gen(function* () {
      const world = yield* jetStreamWorld()
      const store = yield* strangerAt(world.server.url)
      const one = yield* world.start(count)
      yield* Effect.gen(function* () {
        yield* store(s.event("gate", r1, "RunPaused"), "garbage", envelopeOf("garbage", "RunPaused"))
        yield* drain
        assert.deepStrictEqual(
          (yield* deadLettersOf("r1")).map(({ subject }) => subject),
          ["t.event.gate.r1.RunPaused"]
        )
      }).pipe(Effect.provide(one))
    }).pipe(Effect.scoped)
  )
})

onServer("the events of one run", () => {
  it.live("are handled in their order, also when the body of the first is fetched from the object store", () =>
    Effect.gen(function* () {
      const world = yield* jetStreamWorld()
      const one = yield* world.start(listener)
      yield* Effect.gen(function* () {
        const messenger = yield* Messenger
        const large = PublicEvent.cases.RunAborted.make({ runId: r1, reason: "x".repeat(600_000) })
        yield* messenger.publish("orchestrator", large, { id: "first" })
        yield* messenger.publish("orchestrator", PublicEvent.cases.RunPaused.make({ runId: r1 }), { id: "second" })
        yield* drain
        assert.deepStrictEqual(
          (yield* journalOf("r1")).map(({ input }) => input.id),
          ["first", "second"]
        )
      }).pipe(Effect.provide(one))
    }).pipe(Effect.scoped)
  )
})
