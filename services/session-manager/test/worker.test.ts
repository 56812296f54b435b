import { assert, describe, it } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { AgentRuntime, AgentRuntimes, type Inspection, MemoryControl, type MemoryScript } from "@reprise/agent"
import { Host, Key } from "@reprise/protocol"
import { Duration, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { layerWith } from "../src/service.ts"
import { OwnPrompts } from "../src/work/OwnPrompts.ts"
import { interruptSession } from "../src/work/runtimeSession.ts"
import { inMemory, stage, surroundings } from "./support/stage.ts"
import { badReport, goodReport, newTurn, nextTurn, sessionId } from "./support/story.ts"

const isReport = (text: string) => /^(Now report|Your report)/.test(text)
const good: MemoryScript = ({ text }) => [{ say: isReport(text) ? goodReport : "I did it." }]
const host = Host.make("local")
const reportAlone = goodReport.replace("Done.\n", "")
const first = newTurn(1, { host })
const second = nextTurn(2, { host })

describe("a turn on a runtime", () => {
  it.live("publishes its events in this order, from request to report", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, storyUntil, view } = yield* stage
      yield* send(first)
      const done = yield* awaitEvent("TurnCompleted")
      assert.deepInclude(done.status, { result: "complete", commit: "abc" })
      assert.deepInclude(done, { lastLines: "I did it.", attempts: 1 })
      assert.deepStrictEqual(yield* storyUntil("TurnCompleted"), [
        "SessionCreated",
        "TurnStarted",
        "AgentWorking",
        "TurnCompleted"
      ])
      assert.deepInclude(yield* view(), { status: "active", turns: 1, messages: 4 })
    }).pipe(Effect.provide(inMemory(good)))
  )

  it.live("continues in the same runtime session, with one more user message per prompt", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, view } = yield* stage
      const runtime = yield* AgentRuntime
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      yield* send(second)
      const reused = yield* awaitEvent("SessionReused")
      yield* awaitEvent("TurnCompleted", 2)
      assert.strictEqual(reused.runtimeSessionId, runtimeSessionId)
      const users = (yield* runtime.history(runtimeSessionId)).filter(({ role }) => role === "user")
      assert.strictEqual(users.length, 4)
      assert.strictEqual((yield* view()).turns, 2)
    }).pipe(Effect.provide(inMemory(good)))
  )

  it.live("is refused at once while another turn runs in the session", () => {
    const control = new MemoryControl()
    const script: MemoryScript = ({ text }) => [{ hold: "work" }, { say: isReport(text) ? goodReport : "Done." }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      yield* control.reached("work")
      yield* send(second)
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { turnId: second.turnId, sessionUsable: true })
      yield* control.release("work")
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).turnId, first.turnId)
    }).pipe(Effect.provide(inMemory(script, { control })))
  })

  it.live("lets a report that does not fit be corrected once", () => {
    const control = new MemoryControl()
    const script: MemoryScript = ({ text }) => {
      if (text.startsWith("Your report could not be read")) return [{ say: goodReport }]
      return [{ say: badReport }]
    }
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      const done = yield* awaitEvent("TurnCompleted")
      assert.strictEqual(done.status?.commit, "abc")
      assert.strictEqual(yield* control.modelCalls, 2)
    }).pipe(Effect.provide(inMemory(script, { control })))
  })

  it.live("reads the report at the end of the work, and shows a human what stands before it", () => {
    const control = new MemoryControl()
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      const { lastLines, status } = yield* awaitEvent("TurnCompleted")
      assert.deepStrictEqual([lastLines, status?.commit], ["Done.", "abc"])
      assert.strictEqual(yield* control.modelCalls, 1)
    }).pipe(Effect.provide(inMemory(() => [{ say: goodReport }], { control })))
  })

  it.live("tells that its agent was given the prompt, where it failed for itself", () =>
    Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "runtime", promptGiven: true })
    }).pipe(Effect.provide(inMemory(() => [{ fail: "context-overflow", message: "too long" }])))
  )

  it.live("reads the report at the end of a text that is very long", () => {
    const control = new MemoryControl()
    const script: MemoryScript = () => [{ say: `${"many words\n".repeat(30_000)}${goodReport}` }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).status?.commit, "abc")
      assert.strictEqual(yield* control.modelCalls, 1)
    }).pipe(Effect.provide(inMemory(script, { control })))
  })

  it.live("shows a human the newest words of the agent where its last message is the report alone", () => {
    const script: MemoryScript = ({ turn }) => [{ say: ["First.\n", "Second.\n", ""][turn - 1] + reportAlone }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      yield* awaitEvent("TurnCompleted")
      for (const n of [2, 3]) {
        yield* send(nextTurn(n, { host }))
        assert.strictEqual((yield* awaitEvent("TurnCompleted", n)).lastLines, "Second.")
      }
    }).pipe(Effect.provide(inMemory(script)))
  })

  it.effect("shows its progress once a second at most, with what all of its prompts have used", () => {
    const tool = { tool: "bash" } as const
    const script: MemoryScript = ({ text }) => (isReport(text) ? [{ say: goodReport }] : [tool, tool, { say: "Ok." }])
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const messenger = yield* Messenger
      yield* TestClock.adjust("1 hour")
      yield* send(first)
      yield* awaitEvent("TurnCompleted")
      const seen = yield* messenger.events({ services: ["session-manager"], from: "beginning" }).pipe(
        Stream.takeUntil(({ event }) => event._tag === "TurnCompleted"),
        Stream.runCollect
      )
      const outputs = seen.flatMap(({ event }) => (event._tag === "TurnProgress" ? [event.tokens.output] : []))
      assert.deepStrictEqual(outputs, [1, 4])
    }).pipe(Effect.provide(inMemory(script)))
  })

  it.live("is not stopped by the interruption of an earlier turn that is delivered again", () => {
    const control = new MemoryControl()
    const script: MemoryScript = ({ text }) => [
      { hold: text.startsWith("Fix") ? "second" : "first" },
      { say: goodReport }
    ]
    return Effect.gen(function* () {
      const { awaitEvent, send, view } = yield* stage
      const { turnId } = first
      yield* send(first)
      const { runId, runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* control.reached("first")
      yield* send({ _tag: "InterruptTurn", sessionId, turnId, reason: "the run is paused" })
      const failed = { kind: "aborted", sessionUsable: true, promptGiven: true } as const
      assert.deepInclude(yield* awaitEvent("TurnFailed"), failed)
      assert.strictEqual((yield* view()).model, "memory/scripted")
      yield* send(second)
      yield* control.reached("second")
      const context = {
        key: Key.make(sessionId),
        id: "again",
        delivery: 2,
        host,
        subject: runId,
        requestedAt: "",
        isDrained: () => false
      }
      const work = { directory: first.directory, runtime: first.runtime, runtimeSessionId, turnId }
      yield* interruptSession(work, context).pipe(Effect.provide(OwnPrompts.layer))
      yield* control.release("second")
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).turnId, second.turnId)
    }).pipe(Effect.provide(inMemory(script, { control })))
  })

  it.live("survives a crash of the runtime, still with one user message", () => {
    const control = new MemoryControl()
    const script: MemoryScript = ({ attempt, text }) =>
      isReport(text)
        ? [{ say: goodReport }]
        : attempt === 1
          ? [{ tool: "bash" }, { hold: "work" }]
          : [{ say: "I did it after all." }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const runtime = yield* AgentRuntime
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* control.reached("work")
      yield* control.crash
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).lastLines, "I did it after all.")
      const users = (yield* runtime.history(runtimeSessionId)).filter(({ role }) => role === "user")
      assert.strictEqual(users.length, 2)
    }).pipe(Effect.provide(inMemory(script, { control })))
  })

  it.live("waits for a rate limit and continues under the same prompt", () => {
    const script: MemoryScript = ({ attempt, text }) => {
      if (isReport(text)) return [{ say: goodReport }]
      return attempt === 1 ? [{ fail: "rate_limited", message: "slow down" }] : [{ say: "I did it." }]
    }
    return Effect.gen(function* () {
      const { awaitEvent, send, view } = yield* stage
      yield* send(first)
      assert.deepInclude(yield* awaitEvent("AgentFailed"), { kind: "rate_limited", message: "slow down" })
      yield* awaitEvent("TurnCompleted")
      assert.strictEqual((yield* view()).messages, 5)
    }).pipe(Effect.provide(inMemory(script, { settings: { firstWait: Duration.millis(20) } })))
  })

  it.live("ends as unauthorized at once, with the session usable", () =>
    Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "unauthorized", sessionUsable: true })
    }).pipe(Effect.provide(inMemory(() => [{ fail: "unauthorized", message: "log in" }])))
  )
})

describe("the limits of a turn", () => {
  const silent: MemoryScript = () => [{ hold: "silence" }]

  it.live("end a turn whose agent shows no activity, and abort its session on the runtime", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, storyUntil, view } = yield* stage
      const runtime = yield* AgentRuntime
      yield* send({ ...first, limits: { inactivityMs: 100 } })
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "timeout", sessionUsable: false })
      yield* awaitEvent("SessionAborted")
      const { model, runtimeSessionId, status } = yield* view()
      assert.strictEqual(status, "aborted")
      assert.strictEqual(model, "memory/scripted")
      assert.strictEqual((yield* runtime.inspect(runtimeSessionId ?? "")).state._tag, "idle")
      assert.deepStrictEqual((yield* storyUntil("SessionAborted")).slice(-2), ["TurnFailed", "SessionAborted"])
    }).pipe(Effect.provide(inMemory(silent)))
  )

  it.live("end a turn that took too long or used too many tokens", () =>
    Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send({ ...first, limits: { wallMs: 100 } })
      assert.match((yield* awaitEvent("TurnFailed")).message, /took longer than its limit/)
      const other = newTurn(2, { host, limits: { maxTokens: 5, wallMs: 60_000, inactivityMs: 200 } })
      yield* send(other, "r1-s2")
      assert.deepInclude(yield* awaitEvent("TurnFailed", 2), { kind: "turn-limit", sessionUsable: true })
    }).pipe(Effect.provide(inMemory(() => [{ tool: "bash" }, { tool: "bash" }, { hold: "silence" }])))
  )
})

const pushDenied = { refused: "bash: git push", rule: "permissions.deny.commands: git push *" } as const

describe("what a rule refuses during a turn", () => {
  it.live("is told each time, names the rule, asks nobody, and costs no retry", () => {
    const script: MemoryScript = ({ text }) =>
      isReport(text) ? [{ say: goodReport }] : [pushDenied, pushDenied, { tool: "bash" }, { say: "I did it." }]
    return Effect.gen(function* () {
      const { awaitEvent, send, storyUntil, view } = yield* stage
      yield* send(first)
      const refused = yield* awaitEvent("PermissionRefused", 2)
      const wish = { role: "author", text: "bash: git push", unattended: true, rule: pushDenied.rule } as const
      assert.deepInclude(refused, { ...wish, turnId: first.turnId })
      assert.deepInclude(yield* awaitEvent("TurnCompleted"), { lastLines: "I did it.", attempts: 1 })
      assert.notInclude(yield* storyUntil("TurnCompleted"), "AgentPrompting")
      assert.strictEqual((yield* view()).refusals, 2)
    }).pipe(Effect.provide(inMemory(script)))
  })
})

describe("an agent that asks during a turn", () => {
  it.effect("does not time out while it waits for a human longer than its limit, and gets the answer", () => {
    const script: MemoryScript = ({ text }) =>
      isReport(text) ? [{ say: goodReport }] : [{ tool: "bash", ask: "rm -r build" }, { say: "Removed." }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send({ ...first, limits: { inactivityMs: 60_000 } })
      const asked = yield* awaitEvent("AgentPrompting")
      assert.deepStrictEqual(
        asked.options.map(({ name }) => name),
        ["once", "always", "reject"]
      )
      yield* TestClock.adjust("2 minutes")
      yield* send({ _tag: "ReplyToPrompt", sessionId, promptId: asked.promptId, reply: "once" })
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).lastLines, "Removed.")
    }).pipe(Effect.provide(inMemory(script)))
  })

  it.effect("does not lose that time: the report still has the rest of the turn's time limit", () => {
    const control = new MemoryControl()
    const script: MemoryScript = ({ text }) =>
      isReport(text)
        ? [{ hold: "report" }, { say: goodReport }]
        : [{ tool: "bash", ask: "rm -r build" }, { say: "Removed." }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send({ ...first, limits: { wallMs: 60_000 } })
      const { promptId } = yield* awaitEvent("AgentPrompting")
      yield* TestClock.adjust("2 minutes")
      yield* send({ _tag: "ReplyToPrompt", sessionId, promptId, reply: "once" })
      yield* control.reached("report")
      yield* TestClock.adjust("10 seconds")
      yield* control.release("report")
      yield* awaitEvent("TurnCompleted")
    }).pipe(Effect.provide(inMemory(script, { control })))
  })

  it.effect("is heard twice when it asks the same question twice, even if only polls find the questions", () => {
    const script: MemoryScript = ({ text }) =>
      isReport(text)
        ? [{ say: goodReport }]
        : [{ tool: "bash", ask: "rm -r build" }, { tool: "bash", ask: "rm -r build" }, { say: "Removed." }]
    const mute = Layer.effect(
      AgentRuntimes,
      AgentRuntime.use((runtime) => Effect.succeed(AgentRuntimes.make([{ ...runtime, events: Stream.never }])))
    )
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send({ ...first, limits: {} })
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      const runtime = yield* AgentRuntime
      const asked: Array<string> = []
      const asksAnew = ({ state }: Inspection) => state._tag === "prompting" && !asked.includes(state.prompt.promptId)
      for (const count of [1, 2]) {
        yield* Effect.repeat(runtime.inspect(runtimeSessionId), { until: asksAnew })
        yield* TestClock.adjust("5 seconds")
        const { promptId } = yield* awaitEvent("AgentPrompting", count)
        asked.push(promptId)
        yield* send({ _tag: "ReplyToPrompt", sessionId, promptId, reply: "once" })
      }
      yield* awaitEvent("TurnCompleted")
    }).pipe(
      Effect.provide(
        layerWith({ idleGrace: Duration.millis(50) }).pipe(
          Layer.provide(mute),
          Layer.provideMerge(surroundings(script))
        )
      )
    )
  })

  it.live("may get a free-text answer to its question", () => {
    const script: MemoryScript = ({ text }) =>
      isReport(text) ? [{ say: goodReport }] : [{ question: "Which?", options: ["red", "blue"] }, { say: "Painted." }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(first)
      const { kind, options, promptId } = yield* awaitEvent("AgentPrompting")
      assert.strictEqual(kind, "question")
      assert.deepStrictEqual(
        options.map(({ name }) => name),
        ["red", "blue", "other"]
      )
      yield* send({ _tag: "ReplyToPrompt", sessionId, promptId, reply: "green" })
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).lastLines, "Painted.")
    }).pipe(Effect.provide(inMemory(script)))
  })

  it.live("is announced as working for a human when it is answered in the runtime itself", () => {
    const script: MemoryScript = ({ text }) =>
      isReport(text) ? [{ say: goodReport }] : [{ tool: "bash", ask: "rm -r build" }, { say: "Removed." }]
    return Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      const runtime = yield* AgentRuntime
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      const { promptId } = yield* awaitEvent("AgentPrompting")
      yield* runtime.reply({ runtimeSessionId, promptId, reply: { kind: "permission", reply: "once" } })
      yield* awaitEvent("TurnCompleted")
      assert.deepInclude(yield* awaitEvent("AgentWorking"), { cause: "human" })
    }).pipe(Effect.provide(inMemory(script)))
  })
})
