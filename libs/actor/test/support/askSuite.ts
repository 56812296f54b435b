/** What `ask`, `show` and `list` answer. */
import { assert, describe } from "@effect/vitest"
import {
  EscalationCommand,
  EscalationId,
  type EscalationView,
  GateEvent,
  PublicEvent,
  RunId,
  SessionId,
  to
} from "@reprise/protocol"
import { Effect, Result } from "effect"
import { type Actor, actorLayer, type Broker, drain, Messenger, publish, refusing } from "../../src/index.ts"
import { eventsSoFar } from "./observe.ts"
import type { Stage } from "./systems.ts"

const { EscalationAnswered } = GateEvent.cases
const refuse = refusing("gate")
const runId = RunId.make("r1")

/** A gate that takes the answer `yes` and knows no question. */
const yesActor: Actor<{ readonly answers: number }, EscalationCommand, typeof EscalationAnswered.Type> = {
  service: "gate",
  commands: EscalationCommand,
  journal: EscalationAnswered,
  initial: { answers: 0 },
  decide: (state, command) => {
    if (command._tag !== "AnswerEscalation") return Result.succeed([])
    if (state.answers > 0) return refuse("closed", "It was answered.")
    const { choice, by, escalationId, via } = command
    return choice === "yes"
      ? Result.succeed([EscalationAnswered.make({ runId, escalationId, choice, by, via })])
      : refuse("not-an-option", `'${choice}' is not an option.`)
  },
  evolve: ({ answers }) => ({ answers: answers + 1 }),
  react: (_state, events) => events.map(publish),
  runOf: () => runId,
  view: ({ answers }) => (answers === 0 ? undefined : viewOf("e1")),
  snapshotVersion: 1
}

const viewOf = (id: string): EscalationView => ({
  escalationId: EscalationId.make(id),
  runId,
  origin: "author",
  reason: "Why not?",
  options: [{ name: "yes", label: "yes", keys: [], guidance: "none" }],
  evidence: {},
  raisedAt: "2026-01-01T00:00:00.000Z",
  state: "answered"
})

const answer = (choice: string, id = "e1") =>
  to.gate(EscalationId.make(id)).AnswerEscalation({ choice, by: "somebody", via: "test" })

const asked = (choice: string, id: string) =>
  Messenger.use((messenger) => messenger.ask(answer(choice), { id, subject: runId }))

export const askSuite = (name: string, { open, test }: Stage) =>
  describe(name, () => {
    const inWorld = <E>(story: Effect.Effect<void, E, Messenger | Broker>) =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(actorLayer(yesActor))
        yield* Effect.provide(story, one)
      }).pipe(Effect.scoped)

    test("ask resolves to the event that the command led to", () =>
      inWorld(
        Effect.gen(function* () {
          const event = yield* asked("yes", "c1")
          assert.strictEqual(event._tag, "EscalationAnswered")
          assert.deepInclude(event, { choice: "yes", by: "somebody" })
        })
      ))

    test("ask fails with the code and the reason when the service refuses the command", () =>
      inWorld(
        Effect.gen(function* () {
          const refused = yield* Effect.flip(asked("no", "c1"))
          assert.deepInclude(refused, {
            _tag: "Refused",
            command: "AnswerEscalation",
            code: "not-an-option",
            reason: "'no' is not an option."
          })
        })
      ))

    test("an answer that another command gave is not taken for one's own", () =>
      inWorld(
        Effect.gen(function* () {
          yield* asked("yes", "c1")
          const late = yield* Effect.flip(asked("yes", "c2"))
          assert.deepInclude(late, { _tag: "Refused", code: "closed" })
        })
      ))

    test("the same command asked again gets the same answer, and nothing is done twice", () =>
      inWorld(
        Effect.gen(function* () {
          const first = yield* asked("yes", "c1")
          assert.deepStrictEqual(yield* asked("yes", "c1"), first)
        })
      ))

    test("ask for a state is answered by whatever led to it", () =>
      inWorld(
        Effect.gen(function* () {
          const messenger = yield* Messenger
          const pause = to.orchestrator(runId).PauseRun({ now: false })
          yield* messenger.publish("orchestrator", PublicEvent.cases.RunPaused.make({ runId }))
          const event = yield* messenger.ask(pause, { id: "p1" })
          assert.strictEqual(event._tag, "RunPaused")
        })
      ))

    test("ask ends with NoAnswer when nobody answers, and the command stays stored", () =>
      inWorld(
        Effect.gen(function* () {
          const messenger = yield* Messenger
          const silent = messenger.ask(to.sessionManager(SessionId.make("s1")).AbortSession({ reason: "test" }), {
            timeout: "50 millis"
          })
          const none = yield* Effect.flip(silent)
          assert.deepInclude(none, { _tag: "NoAnswer", service: "session-manager", command: "AbortSession" })
        })
      ))

    test("a body that cannot be read is refused with the code unreadable", () =>
      inWorld(
        Effect.gen(function* () {
          const messenger = yield* Messenger
          const command = { _tag: "AnswerEscalationTwice" }
          yield* messenger.send({ service: "gate", key: "e1", command }, { subject: runId })
          yield* drain
          const [refused] = yield* eventsSoFar(["CommandRefused"])
          assert.deepInclude(refused?.event, { command: "AnswerEscalationTwice", code: "unreadable" })
        })
      ))

    test("show and list resolve to views, and an id that nobody has is not found", () =>
      inWorld(
        Effect.gen(function* () {
          const messenger = yield* Messenger
          const missing = yield* Effect.flip(messenger.show.gate(EscalationId.make("e1")))
          assert.strictEqual(missing.code, "not-found")
          yield* asked("yes", "c1")
          assert.deepStrictEqual(yield* messenger.show.gate(EscalationId.make("e1")), viewOf("e1"))
          assert.deepStrictEqual(yield* messenger.list.gate({ state: "answered" }), [viewOf("e1")])
          assert.deepStrictEqual(yield* messenger.list.gate({ state: "open" }), [])
        })
      ))
  })
