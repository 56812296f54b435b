import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import {
  Host,
  noTokens,
  type PublicEvent,
  type PublicEventType,
  type ReviewCommand,
  RunId,
  reviewerSessionIdOf,
  reviewerTurnIdOf,
  reviewKey
} from "@reprise/protocol"
import { Effect, Layer, Schedule, Stream } from "effect"
import { layer } from "../src/service.ts"

const runId = RunId.make("r1")
const phase = "2"
type EventOf<Tag extends PublicEventType> = Extract<PublicEvent, { _tag: Tag }>

const request = (cycle: number, commit: string): ReviewCommand => ({
  _tag: "RequestReview",
  runId,
  phase,
  commit,
  base: "base",
  reviewPath: "review.md",
  planPath: "PLAN.md",
  cycle,
  directory: "/work/repository",
  host: Host.make("h1"),
  runtime: "opencode",
  permissions: "ask",
  limits: {},
  words: [],
  decisions: [],
  findings: [],
  remarks: [],
  prompts: {}
})

const surroundings = Messenger.layer.pipe(
  Layer.provideMerge(MemoryBroker.layer),
  Layer.provideMerge(ActorConfig.layer())
)

const stage = Effect.gen(function* () {
  const messenger = yield* Messenger
  const key = reviewKey(runId, phase)
  return {
    ask: (cycle: number, commit: string) =>
      messenger.send({ service: "reviewer", key, command: request(cycle, commit) }),
    /** Waits until the n-th review is under way. */
    reviewing: (n: number) =>
      messenger.show.reviewer(key).pipe(
        Effect.repeat({
          until: ({ cycle, status }) => cycle === n && status === "reviewing",
          schedule: Schedule.spaced("10 millis")
        })
      ),
    /** Plays the session-manager: finds the session for the n-th turn. */
    reuse: (n: number) =>
      messenger.publish("session-manager", {
        _tag: "SessionReused",
        runId,
        phase,
        role: "reviewer",
        sessionId: reviewerSessionIdOf(runId, phase, 1),
        turnId: reviewerTurnIdOf(runId, phase, n),
        runtimeSessionId: "ses_1",
        reason: "review-cycle"
      }),
    /** Plays the session-manager: ends the n-th turn with a verdict. */
    judge: (n: number) =>
      messenger.publish("session-manager", {
        _tag: "TurnCompleted",
        runId,
        phase,
        role: "reviewer",
        sessionId: reviewerSessionIdOf(runId, phase, 1),
        turnId: reviewerTurnIdOf(runId, phase, n),
        report: "verdict",
        verdict: { readiness: "ready", items: [] },
        tokens: noTokens,
        cost: 0,
        calls: 1,
        duration: 1,
        attempts: 1
      }),
    awaitEvent: <Tag extends PublicEventType>(tag: Tag, count: number) =>
      messenger.events({ services: ["reviewer"], types: [tag], from: "beginning" }).pipe(
        Stream.take(count),
        Stream.runCollect,
        Effect.map((seen) => seen[count - 1]?.event as EventOf<Tag>)
      )
  }
})

describe("the reviewer service", () => {
  it.live("remembers its session across restarts, even in the middle of a review", () =>
    Effect.gen(function* () {
      const { ask, awaitEvent, judge, reuse, reviewing } = yield* stage
      yield* Effect.gen(function* () {
        yield* ask(1, "c1")
        assert.deepInclude(yield* awaitEvent("ReviewStarted", 1), { sessionReused: false, commit: "c1" })
      }).pipe(Effect.provide(Layer.fresh(layer)))
      yield* judge(1)
      yield* Effect.gen(function* () {
        assert.deepInclude(yield* awaitEvent("VerdictReached", 1), { commit: "c1", cycle: 1 })
      }).pipe(Effect.provide(Layer.fresh(layer)))
      yield* Effect.gen(function* () {
        yield* ask(2, "c2")
        yield* reviewing(2)
        yield* reuse(2)
        assert.deepInclude(yield* awaitEvent("ReviewStarted", 2), { sessionReused: true, commit: "c2" })
        yield* judge(2)
        assert.deepInclude(yield* awaitEvent("VerdictReached", 2), { commit: "c2", cycle: 2 })
      }).pipe(Effect.provide(Layer.fresh(layer)))
    }).pipe(Effect.provide(surroundings))
  )
})
