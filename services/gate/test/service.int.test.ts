import { assert, layer } from "@effect/vitest"
import { ActorConfig, Broker, drain, JetStreamBroker, MemoryBroker, Messenger } from "@reprise/actor"
import { ensureStreams, Nats } from "@reprise/nats"
import { type EscalationCommand, EscalationId, type PublicEvent, RunId, subjects } from "@reprise/protocol"
import { localBroker, Broker as Server } from "@reprise/testing"
import { Effect, Layer, Stream } from "effect"
import { layer as service } from "../src/service.ts"
import { question, reply } from "./fixtures.ts"

const config = ActorConfig.layer({ prefix: "t" })

const inMemory = Messenger.layer.pipe(Layer.provideMerge(MemoryBroker.layer), Layer.provideMerge(config))

const onJetStream = Layer.unwrap(
  Effect.map(Server, ({ url }) =>
    Messenger.layer.pipe(
      Layer.provideMerge(JetStreamBroker.layer),
      Layer.provideMerge(Layer.effectDiscard(ensureStreams("t", { storageBytes: 256 * 1024 ** 2 }))),
      Layer.provideMerge(Nats.layer({ url, name: "gate-test" })),
      Layer.provideMerge(config)
    )
  )
).pipe(Layer.provide(localBroker))

/** One more process of the gate, until the scope closes. */
const startGate = Layer.build(Layer.fresh(service))

let asked = 0
/** The ids of a question whose run no other test uses. */
const newQuestion = () => {
  const run = `run-${++asked}`
  return { runId: RunId.make(run), escalationId: EscalationId.make(`${run}-e1`) }
}

const tell = (command: EscalationCommand) =>
  Messenger.use((messenger) => messenger.send({ service: "gate", key: command.escalationId, command }))

/** Everything that was published for a run, once all messages are handled. */
const storyOf = Effect.fnUntraced(function* (runId: RunId) {
  const messenger = yield* Messenger
  yield* drain
  yield* messenger.publish("orchestrator", { _tag: "RunPaused", runId })
  return yield* messenger.events({ runId, from: "beginning" }).pipe(
    Stream.map(({ event }) => event),
    Stream.takeUntil(({ _tag }) => _tag === "RunPaused"),
    Stream.filter(({ _tag }) => _tag !== "RunPaused"),
    Stream.runCollect
  )
})
const tags = (events: ReadonlyArray<PublicEvent>) => events.map(({ _tag }) => _tag)

const openOf = (runId: RunId) => Messenger.use((messenger) => messenger.list.gate({ state: "open", runId }))

const contract = (name: string, world: Layer.Layer<Messenger | Broker | ActorConfig, unknown>) =>
  layer(world, { excludeTestServices: true, timeout: "15 minutes" })(name, (it) => {
    it.effect("lists questions without their evidence for whoever asks for brief ones", () =>
      Effect.gen(function* () {
        yield* startGate
        const id = newQuestion()
        const words = "x".repeat(4_000)
        yield* tell({ ...question(id), reason: words, evidence: { planTitle: "A plan", lastLines: words } })
        yield* drain
        const [whole] = yield* openOf(id.runId)
        const [brief] = yield* Messenger.use(({ list }) => list.gate({ runId: id.runId, brief: true }))
        assert.strictEqual(whole?.evidence.lastLines, words)
        assert.deepStrictEqual(brief?.evidence, { planTitle: "A plan" })
        assert.deepStrictEqual([brief?.escalationId, brief?.reason.length], [id.escalationId, 401])
      })
    )

    it.effect("lists only so many, those that changed last", () =>
      Effect.gen(function* () {
        yield* startGate
        const ids = [newQuestion(), newQuestion(), newQuestion()]
        for (const id of ids) {
          yield* tell({ ...question(id), runId: ids[0]?.runId ?? id.runId })
          yield* drain
        }
        const listed = yield* Messenger.use(({ list }) => list.gate({ runId: ids[0]?.runId ?? "", most: 2 }))
        assert.sameMembers(
          listed.map(({ escalationId }) => escalationId),
          ids.slice(1).map(({ escalationId }) => escalationId)
        )
      })
    )

    it.effect("takes the first of many answers to a question, and tells the others who was first", () =>
      Effect.gen(function* () {
        yield* startGate
        yield* startGate
        const id = newQuestion()
        yield* tell(question(id))
        yield* drain
        assert.containSubset(yield* openOf(id.runId), [{ ...id, state: "open", reason: "Which database?" }])

        yield* Effect.all(
          Array.from({ length: 10 }, (_, n) =>
            tell(reply("f", { escalationId: id.escalationId, by: `person-${n}`, guidance: `from ${n}` }))
          ),
          { concurrency: "unbounded" }
        )
        const story = yield* storyOf(id.runId)
        const winners = story.flatMap((event) => (event._tag === "EscalationAnswered" ? [event.by] : []))
        const losers = story.flatMap((event) => (event._tag === "CommandRefused" ? [event] : []))
        assert.strictEqual(winners.length, 1)
        assert.strictEqual(losers.length, 9)
        for (const { code, reason } of losers) {
          assert.strictEqual(code, "closed")
          assert.include(reason, `${winners[0]} answered 'fix' through cli`)
        }
        assert.deepStrictEqual(yield* openOf(id.runId), [])
      })
    )

    it.effect("keeps one open question after many repeats, even across restarts", () =>
      Effect.gen(function* () {
        const id = newQuestion()
        for (let n = 0; n < 3; n++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* startGate
              yield* Effect.forEach(Array.from({ length: 30 }), () => tell(question(id)), { concurrency: 10 })
              yield* drain
            })
          )
        }
        yield* startGate
        assert.deepStrictEqual(tags(yield* storyOf(id.runId)), ["EscalationRaised"])
        assert.strictEqual((yield* openOf(id.runId)).length, 1)
      })
    )

    it.effect("takes the question's id from the subject when the body of the answer leaves it out", () =>
      Effect.gen(function* () {
        yield* startGate
        const id = newQuestion()
        yield* tell(question(id))
        const meta = { type: "AnswerEscalation", source: "/gate/bot", subject: id.runId, time: "2026-01-01T00:00:00Z" }
        const answer = {
          subject: subjects("t").command("gate", id.escalationId),
          body: JSON.stringify({ choice: "fix", by: "bot", via: "nats" }),
          meta: { ...meta, id: `${id.runId}-bot` }
        }
        yield* Broker.use((broker) => broker.publish([answer]))
        const [, answered] = yield* storyOf(id.runId)
        assert.containSubset(answered, { _tag: "EscalationAnswered", ...id, choice: "fix", by: "bot" })
      })
    )

    it.effect("refuses a choice that is not offered, keeps the question open, and withdraws it on request", () =>
      Effect.gen(function* () {
        yield* startGate
        const id = newQuestion()
        yield* tell(
          question({ ...id, options: question().options.slice(1), evidence: { continueUnavailable: "it timed out" } })
        )
        yield* tell(reply("c", { escalationId: id.escalationId }))
        yield* tell({ _tag: "WithdrawEscalation", escalationId: id.escalationId, reason: "agent-working" })
        yield* tell(reply("f", { escalationId: id.escalationId }))
        const story = yield* storyOf(id.runId)
        assert.deepStrictEqual(tags(story), [
          "EscalationRaised",
          "CommandRefused",
          "EscalationWithdrawn",
          "CommandRefused"
        ])
        assert.containSubset(story[1], { command: "AnswerEscalation" })
        assert.include(JSON.stringify(story[1]), "continue-session is not offered here: it timed out.")
        assert.include(JSON.stringify(story[3]), "was withdrawn at")
      })
    )
  })

contract("the gate on a broker in memory", inMemory)
contract("the gate on JetStream", onJetStream)
