import { assert, describe, it } from "@effect/vitest"
import { Broker, drain, Messenger } from "@reprise/actor"
import { AgentRuntime, MemoryControl, type MemoryScript } from "@reprise/agent"
import { Host, type SessionCommand, SessionId } from "@reprise/protocol"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { readSessionFile } from "../src/work/SessionFile.ts"
import { inMemory, stage } from "./support/stage.ts"
import { goodReport, newTurn, nextTurn, sessionId } from "./support/story.ts"

const isReport = (text: string) => /^(Now report|Your report)/.test(text)
const host = Host.make("local")
const first = newTurn(1, { host })
const second = nextTurn(2, { host })
const abort: SessionCommand = { _tag: "AbortSession", sessionId, reason: "stop" }

describe("a human who works in the session while a turn is open", () => {
  it.effect("has all the time they need, and leaves the turn its own", () => {
    const control = new MemoryControl()
    const script: MemoryScript = ({ text }) =>
      text === "By hand." ? [{ hold: "human" }, { say: "Yes." }] : [{ say: isReport(text) ? goodReport : "I did it." }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const runtime = yield* AgentRuntime
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      const promptId = { messageId: "msg_theirs", partId: "prt_theirs" }
      const theirs = { runtimeSessionId, directory: "/work/repository", promptId, text: "By hand." }
      yield* Effect.forkChild(runtime.prompt(theirs))
      yield* control.reached("human")
      yield* send({ ...second, limits: { wallMs: 60_000 } })
      yield* awaitEvent("TurnStarted", 2)
      yield* TestClock.adjust("3 minutes")
      yield* control.release("human")
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* awaitEvent("TurnCompleted", 2)).turnId, second.turnId)
    }).pipe(Effect.provide(inMemory(script, { control })))
  })
})

describe("an abort in the middle of a turn", () => {
  it.live("stops the agent and is published once; the turn's worker reports nothing more", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send, storyUntil } = yield* stage
      const runtime = yield* AgentRuntime
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* control.reached("work")
      yield* send(abort)
      yield* awaitEvent("SessionAborted")
      yield* send(second)
      assert.deepInclude(yield* awaitEvent("TurnFailed", 2), { kind: "session-missing", turnId: second.turnId })
      yield* drain
      // Marks the end: nothing comes after this.
      const { runId } = first
      const end = { _tag: "SessionPaused", runId, sessionId: SessionId.make("r1-s9") } as const
      yield* Messenger.use((messenger) => messenger.publish("session-manager", end))
      assert.deepStrictEqual(yield* storyUntil("SessionPaused"), [
        "SessionCreated",
        "TurnStarted",
        "TurnFailed",
        "SessionAborted",
        "TurnFailed",
        "CommandRefused",
        "UsageCounted",
        "SessionArchived",
        "SessionPaused"
      ])
      const { tokens } = yield* awaitEvent("UsageCounted")
      const { object = "" } = yield* awaitEvent("SessionArchived")
      const { transcripts } = yield* Broker
      const file = Result.getOrThrow(readSessionFile((yield* transcripts.get(object)) ?? ""))
      assert.deepInclude(file.metadata, { totalInputTokens: tokens.input, totalOutputTokens: tokens.output })
      assert.isAbove(tokens.input + tokens.output, 0)
      yield* Effect.repeat(runtime.inspect(runtimeSessionId), { while: ({ state }) => state._tag === "busy" })
    }).pipe(Effect.provide(inMemory(() => [{ hold: "work" }], { control })))
  })
})
