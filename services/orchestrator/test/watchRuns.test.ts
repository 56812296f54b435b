/** The watch over runs on a broker: a turn that was lost, and what is not known. */
import { assert, describe, it } from "@effect/vitest"
import { type Actor, ActorConfig, actorLayer, Broker, drain, MemoryBroker, Messenger } from "@reprise/actor"
import {
  Host,
  type OrchestratorCommand,
  SessionCommand,
  SessionId,
  sessionIdOf,
  subjects,
  to,
  turnIdOf
} from "@reprise/protocol"
import { Effect, Layer, Result, Schema, Stream } from "effect"
import { layerWith } from "../src/service.ts"
import { head, runId, startRun, startStandalone } from "./support/samples.ts"
import { sessionView } from "./support/sessionView.ts"

const config = ActorConfig.layer({ prefix: "test" })
const broker = MemoryBroker.layer.pipe(Layer.provideMerge(config))
const world = Messenger.layer.pipe(Layer.provideMerge(broker))
const orchestrator = layerWith({ lookEveryMs: 5 })

/** A session-manager that takes every command and forgets it. */
const forgetful = actorLayer<object, SessionCommand, never>({
  service: "session-manager",
  commands: SessionCommand,
  journal: Schema.Never,
  initial: {},
  decide: () => Result.succeed([]),
  evolve: (state) => state,
  react: () => [],
  runOf: () => undefined,
  view: () => undefined,
  snapshotVersion: 1
} satisfies Actor<object, SessionCommand, never>)

/** Up to the author's first turn. */
const executing = Effect.gen(function* () {
  const messenger = yield* Messenger
  yield* messenger.send({ service: "orchestrator", key: runId, command: startRun({ limits: { stuckAfterMs: 1 } }) })
  yield* drain
  const host = Host.make("host1")
  const prepared = { _tag: "WorkspacePrepared", runId, host, directory: "/repo", head, branch: "main" } as const
  yield* messenger.publish("workspace", prepared)
})

const questions = Effect.gen(function* () {
  const messenger = yield* Messenger
  return yield* messenger
    .events({ runId, types: ["StepWaiting"], from: "beginning" })
    .pipe(Stream.take(1), Stream.runCollect)
})

const turnId = turnIdOf(runId, 1)
const sessionId = sessionIdOf(runId, 1)

describe("a run whose turn was lost", () => {
  it.live("asks once, however many orchestrators watch, and says what is missing", () =>
    Effect.gen(function* () {
      const messenger = yield* Messenger
      yield* Layer.build(Layer.fresh(forgetful))
      yield* Layer.build(Layer.fresh(orchestrator))
      yield* Layer.build(Layer.fresh(orchestrator))
      yield* executing
      yield* questions
      yield* drain
      const { reason, status } = yield* messenger.show.orchestrator(runId)
      const missing = `Turn ${turnId} is not under way in session ${sessionId}: there is no such session.`
      assert.deepStrictEqual([status, reason], ["waiting", missing])
      yield* messenger.send(to.orchestrator(runId).AbortRun({ reason: "x" }))
      const asked = yield* messenger.events({ runId, services: ["orchestrator"], from: "beginning" }).pipe(
        Stream.map(({ event }) => event._tag),
        Stream.takeUntil((tag) => tag === "RunAborted"),
        Stream.runCollect
      )
      assert.strictEqual(asked.filter((tag) => tag === "StepWaiting").length, 1)
    }).pipe(Effect.scoped, Effect.provide(world))
  )

  it.live(
    "asks only after two looks in a row have found it missing: neither while it is open nor while nobody knows",
    () =>
      Effect.gen(function* () {
        const { serve } = yield* Broker
        const error = { code: "broker", message: "The data cannot be read.", hint: "Try again." }
        const unknown = JSON.stringify({ ok: false, error })
        const shown = (more: object) => JSON.stringify({ ok: true, data: sessionView(more) })
        const idle = shown({})
        const open = shown({ turnId, heldBy: "turn" })
        const answers = [unknown, unknown, open, open, idle, unknown, idle, open, idle, idle]
        let looks = 0
        yield* serve("session-manager", {
          [subjects("test").api("session-manager", "show")]: () => Effect.sync(() => answers[looks++] ?? idle)
        })
        yield* Layer.build(Layer.fresh(orchestrator))
        yield* executing
        yield* questions
        assert.isAtLeast(looks, answers.length)
      }).pipe(Effect.scoped, Effect.provide(world))
  )
})

describe("a standalone session whose turn was lost", () => {
  it.live("asks, though its run has no view, once no turn is open in it and it has waited as long as it may", () =>
    Effect.gen(function* () {
      const messenger = yield* Messenger
      const { serve } = yield* Broker
      const idle = sessionView({ sessionId: SessionId.make(runId), prompt: "Write hello.txt.", status: "paused" })
      const other = sessionView({ status: "paused" })
      const standalone: OrchestratorCommand = { ...startStandalone, stuckAfterMs: 20 }
      const { api } = subjects("test")
      const inTurn = { ...idle, turnId, heldBy: "turn" as const }
      let looks = 0
      yield* serve("session-manager", {
        [api("session-manager", "list")]: (asked) =>
          Effect.sync(() => {
            const data = [idle, other].filter(({ status }) => JSON.parse(asked).status === status)
            return JSON.stringify({ ok: true, data })
          }),
        // The list may be old.
        [api("session-manager", "show")]: () =>
          Effect.sync(() => JSON.stringify({ ok: true, data: looks++ < 5 ? inTurn : idle }))
      })
      yield* Layer.build(Layer.fresh(orchestrator))
      yield* Layer.build(Layer.fresh(orchestrator))
      yield* messenger.send({ service: "orchestrator", key: runId, command: standalone })
      const [asked] = yield* questions
      assert.deepInclude(asked?.event, { _tag: "StepWaiting", sessionId: SessionId.make(runId) })
      assert.isAbove(looks, 5)
    }).pipe(Effect.scoped, Effect.provide(world))
  )
})
