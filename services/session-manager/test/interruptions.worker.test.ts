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

const byHand: MemoryScript = ({ text }) =>
  text === "By hand." ? [{ hold: "human" }, { say: "Yes." }] : [{ say: isReport(text) ? goodReport : "I did it." }]

/** A human prompts the agent after its first turn, which lasts until `human` is released. */
const humanAtWork = Effect.fnUntraced(function* (control: MemoryControl) {
  const { awaitEvent, send } = yield* stage
  const runtime = yield* AgentRuntime
  yield* send(first)
  const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
  yield* awaitEvent("TurnCompleted")
  const promptId = { messageId: "msg_theirs", partId: "prt_theirs" }
  const theirs = { runtimeSessionId, directory: "/work/repository", promptId, text: "By hand." }
  yield* Effect.forkChild(runtime.prompt(theirs))
  yield* control.reached("human")
})

const archived = Effect.gen(function* () {
  const { awaitEvent } = yield* stage
  const { object = "" } = yield* awaitEvent("SessionArchived")
  const { transcripts } = yield* Broker
  return Result.getOrThrow(readSessionFile((yield* transcripts.get(object)) ?? ""))
})

describe("a human who works in the session", () => {
  it.effect("has all the time they need while a turn is open, and leaves the turn its own", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* humanAtWork(control)
      yield* send({ ...second, limits: { wallMs: 60_000 } })
      yield* awaitEvent("TurnStarted", 2)
      yield* TestClock.adjust("3 minutes")
      yield* control.release("human")
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* awaitEvent("TurnCompleted", 2)).turnId, second.turnId)
    }).pipe(Effect.provide(inMemory(byHand, { control })))
  })

  it.effect.each([
    ["has what they said then in the archive, and what it cost counted", true],
    ["is waited for ten minutes, then archived as far as they are", false]
  ] as const)("whose session ends meanwhile %s", ([, rests]) => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* humanAtWork(control)
      yield* send({ _tag: "CompleteSession", sessionId })
      yield* awaitEvent("SessionCompleted")
      yield* TestClock.adjust("9 minutes")
      if (rests) yield* control.release("human")
      yield* TestClock.adjust("2 minutes")
      const { messages, metadata } = yield* archived
      const words = JSON.stringify(messages)
      assert.include(words, "By hand.")
      assert.strictEqual(words.includes("Yes."), rests)
      const runtime = yield* AgentRuntime
      const { usage } = yield* runtime.inspect(metadata.runtimeSessionId ?? "")
      assert.strictEqual(metadata.totalOutputTokens, usage.tokens.output)
    }).pipe(Effect.provide(inMemory(byHand, { control })))
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
      const { metadata } = yield* archived
      assert.deepInclude(metadata, { totalInputTokens: tokens.input, totalOutputTokens: tokens.output })
      assert.isAbove(tokens.input + tokens.output, 0)
      yield* Effect.repeat(runtime.inspect(runtimeSessionId), { while: ({ state }) => state._tag === "busy" })
    }).pipe(Effect.provide(inMemory(() => [{ hold: "work" }], { control })))
  })
})
