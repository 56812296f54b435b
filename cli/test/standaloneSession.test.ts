/** A standalone session with everything that it takes: its session, its run, and the gate. */
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { AgentRuntime, AgentRuntimes, type MemoryScript, promptIds } from "@reprise/agent"
import * as gate from "@reprise/gate"
import * as orchestrator from "@reprise/orchestrator"
import { Host, type PublicEventType, SessionId, to } from "@reprise/protocol"
import * as sessionManager from "@reprise/session-manager"
import { Duration, Effect, Layer, Stream } from "effect"

const sessionId = SessionId.make("s1")
const start = to.sessionManager(sessionId).StartSession({
  prompt: "Do it.",
  runtime: "opencode",
  directory: "/work/repository",
  host: Host.make("local"),
  permissions: "ask",
  limits: {}
})
const isReport = (text: string) => /^(Now report|Your report)/.test(text)
const goodReport = '{"result":"complete"}'
const needsHuman = '{"result":"needs_human","reason":"which?"}'

const world = (script: MemoryScript) => {
  const runtime = AgentRuntimes.layerSingle.pipe(Layer.provideMerge(AgentRuntime.layerMemory({ script })))
  return Layer.mergeAll(
    sessionManager.layerWith({ idleGrace: Duration.millis(50) }),
    orchestrator.layer,
    gate.layer
  ).pipe(
    Layer.provideMerge(Layer.mergeAll(runtime, Messenger.layer)),
    Layer.provideMerge(MemoryBroker.layer),
    Layer.provideMerge(ActorConfig.layer())
  )
}

/** What everybody sees of the session, up to the first event of this type. */
const eventsUntil = (last: PublicEventType) =>
  Effect.flatMap(Messenger, (messenger) =>
    messenger.events({ from: "beginning" }).pipe(
      Stream.map(({ event }) => event),
      Stream.takeUntil(({ _tag }) => _tag === last),
      Stream.filter(({ _tag }) => _tag !== "TurnProgress"),
      Stream.runCollect
    )
  )

describe("a standalone session on a runtime", () => {
  it.live("continues when a human works in it, and is asked for its report when they are done", () => {
    // Its first report needs a human; the human does the work, and the next report is good.
    const script: MemoryScript = ({ text, turn }) => [
      { say: isReport(text) ? (turn === 2 ? needsHuman : goodReport) : "Ok." }
    ]
    return Effect.gen(function* () {
      const messenger = yield* Messenger
      const runtime = yield* AgentRuntime
      const view = messenger.show.sessionManager(sessionId)
      yield* messenger.send(start)
      yield* eventsUntil("EscalationRaised")
      const waiting = yield* Effect.repeat(view, { until: ({ escalationId }) => escalationId !== undefined })
      assert.deepInclude(waiting, { heldBy: "question", prompt: "Do it." })
      const id = waiting.runtimeSessionId ?? ""
      yield* runtime.prompt({
        runtimeSessionId: id,
        directory: "/work/repository",
        promptId: promptIds(Date.now(), "a human", 0),
        text: "I will tell you."
      })
      const events = yield* eventsUntil("SessionArchived")
      const ofRun = events.filter(({ _tag }) => _tag.startsWith("Step"))
      assert.deepStrictEqual(
        ofRun.map(({ _tag, sessionId: of }) => [_tag, of]),
        [
          ["StepWaiting", sessionId],
          ["StepResumed", sessionId]
        ],
        "nothing else of its run is seen"
      )
      const ofSession = events.filter((event) => !event._tag.startsWith("Escalation") && !ofRun.includes(event))
      assert.deepStrictEqual(ofSession.map(({ _tag }) => _tag).slice(4), [
        "AgentWorking",
        "UsageCounted",
        "AgentIdle",
        "SessionReused",
        "TurnStarted",
        "AgentWorking",
        "TurnCompleted",
        "SessionCompleted",
        "SessionArchived"
      ])
      for (const { phase, runId, step } of events)
        assert.deepStrictEqual([runId, phase, step], ["s1", undefined, undefined])
      const ended = yield* view
      assert.deepInclude(ended, { status: "completed", turns: 2, tokens: (yield* runtime.inspect(id)).usage.tokens })
      assert.notProperty(ended, "escalationId")
      assert.deepStrictEqual(yield* messenger.list.orchestrator(), [])
    }).pipe(Effect.provide(world(script)))
  })
})
