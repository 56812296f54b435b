import { assert, describe, it } from "@effect/vitest"
import { Broker } from "@reprise/actor"
import { AgentError, AgentRuntime, type AgentRuntimeShape, AgentRuntimes, promptIds } from "@reprise/agent"
import { Host, SessionId } from "@reprise/protocol"
import { Duration, Effect, Layer, Result } from "effect"
import { layerWith } from "../src/service.ts"
import { defaultActions } from "../src/settings.ts"
import { readSessionFile } from "../src/work/SessionFile.ts"
import { inMemory, stage, surroundings } from "./support/stage.ts"
import { goodReport, newTurn } from "./support/story.ts"

const isReport = (text: string) => /^(Now report|Your report)/.test(text)

describe("a session that nobody uses", () => {
  it.live("is paused, expires and is archived by itself, in this order", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, storyUntil } = yield* stage
      const { transcripts } = yield* Broker
      const { phase: _, ...turn } = newTurn(1, { host: Host.make("local") })
      yield* send(turn)
      const { object = "" } = yield* awaitEvent("SessionArchived")
      assert.deepStrictEqual((yield* storyUntil("SessionArchived")).slice(-4), [
        "TurnCompleted",
        "SessionPaused",
        "SessionExpired",
        "SessionArchived"
      ])
      const file = readSessionFile((yield* transcripts.get(object)) ?? "")
      assert.deepInclude(Result.getOrThrow(file).metadata, { status: "expired", messageCount: 4 })
    }).pipe(
      Effect.provide(
        inMemory(({ text }) => [{ say: isReport(text) ? goodReport : "Ok." }], {
          settings: { idleAfter: Duration.millis(20), expireAfter: Duration.millis(20) }
        })
      )
    )
  )
})

describe("a session that its runtime lost", () => {
  it.live("is archived with the transcript that was saved before", () => {
    let saved = false
    const forgetful = Layer.effect(
      AgentRuntimes,
      AgentRuntime.use((runtime) => {
        const gone = new AgentError({ kind: "session-missing", operation: "history", detail: "", sessionUsable: false })
        const history: typeof runtime.history = (id) =>
          Effect.suspend(() => {
            if (saved) return gone
            saved = true
            return runtime.history(id)
          })
        return Effect.succeed(AgentRuntimes.make([{ ...runtime, history }]))
      })
    )
    return Effect.gen(function* () {
      const { awaitEvent, send, view } = yield* stage
      const { transcripts } = yield* Broker
      const { phase: _, ...turn } = newTurn(1, { host: Host.make("local") })
      yield* send(turn)
      yield* awaitEvent("SessionPaused")
      yield* Effect.repeat(view(), { until: ({ transcript }) => transcript !== undefined })
      yield* send({ _tag: "CompleteSession", sessionId: SessionId.make("r1-s1") })
      const { messages, object = "" } = yield* awaitEvent("SessionArchived")
      assert.strictEqual(messages, 4)
      const file = readSessionFile((yield* transcripts.get(object)) ?? "")
      assert.lengthOf(Result.getOrThrow(file).messages, 4)
    }).pipe(
      Effect.provide(
        layerWith({ idleAfter: Duration.millis(20) }).pipe(
          Layer.provide(forgetful),
          Layer.provideMerge(surroundings(({ text }) => [{ say: isReport(text) ? goodReport : "Ok." }]))
        )
      )
    )
  })
})

describe("a session that is completed", () => {
  it.live("is archived with what was said since it was saved last", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, view } = yield* stage
      const runtime = yield* AgentRuntime
      const { phase: _, ...turn } = newTurn(1, { host: Host.make("local") })
      yield* send(turn)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* Effect.repeat(view(), { until: ({ transcript }) => transcript !== undefined })
      const typed = { runtimeSessionId, directory: "/", promptId: promptIds(1, "human", 0), text: "One more thing." }
      yield* runtime.prompt(typed)
      yield* send({ _tag: "CompleteSession", sessionId: SessionId.make("r1-s1") })
      const { messages = 0 } = yield* awaitEvent("SessionArchived")
      assert.strictEqual(messages, (yield* runtime.history(runtimeSessionId)).length)
      assert.isAbove(messages, 2)
    }).pipe(Effect.provide(inMemory(() => [{ say: goodReport }], { settings: { idleGrace: Duration.hours(1) } })))
  )
})

describe("an agent that asks", () => {
  it.live("is answered by the configured action, in the same turn, and no human is asked", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, storyUntil } = yield* stage
      yield* send(newTurn(1, { host: Host.make("local") }))
      const done = yield* awaitEvent("TurnCompleted")
      assert.strictEqual(done.lastLines, "Allowed.")
      assert.notInclude(yield* storyUntil("TurnCompleted"), "AgentPrompting")
      assert.deepInclude(yield* awaitEvent("ActionTaken"), { trigger: "prompt", action: "approve" })
    }).pipe(
      Effect.provide(
        inMemory(
          ({ text }) =>
            isReport(text) ? [{ say: goodReport }] : [{ tool: "bash", ask: "bash: ls" }, { say: "Allowed." }],
          { settings: { actions: { ...defaultActions, onPrompt: ["approve"] } } }
        )
      )
    )
  )

  const script = ({ text }: { readonly text: string }) =>
    isReport(text) ? [{ say: goodReport }] : [{ tool: "bash", ask: "bash: ls" }, { say: "Allowed." }]
  const settings = { actions: { ...defaultActions, onPrompt: ["approve" as const] } }
  const isAnswered = (change: (runtime: AgentRuntimeShape) => Partial<AgentRuntimeShape>) =>
    Effect.gen(function* () {
      const { awaitEvent, send } = yield* stage
      yield* send(newTurn(1, { host: Host.make("local") }))
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).lastLines, "Allowed.")
    }).pipe(
      Effect.provide(
        layerWith(settings).pipe(
          Layer.provide(
            Layer.effect(
              AgentRuntimes,
              AgentRuntime.use((runtime) => Effect.sync(() => AgentRuntimes.make([{ ...runtime, ...change(runtime) }])))
            )
          ),
          Layer.provideMerge(surroundings(script))
        )
      )
    )
  const gone = new AgentError({ operation: "reply", kind: "gone", detail: "No answer.", sessionUsable: true })

  it.live("gets the answer although its runtime cannot be reached for a while", () =>
    isAnswered((runtime) => {
      const failures = [gone]
      return {
        reply: (given) =>
          Effect.suspend(() => {
            const failure = failures.pop()
            return failure === undefined ? runtime.reply(given) : Effect.fail(failure)
          })
      }
    })
  )

  it.live("gets the answer although its runtime knows the question by another id than the session", () =>
    isAnswered((runtime) => ({
      pendingPrompts: (directory) =>
        Effect.map(runtime.pendingPrompts(directory), (all) =>
          all.map((asked) => ({ ...asked, promptId: `${asked.promptId}-again` }))
        ),
      reply: (given) =>
        given.promptId.endsWith("-again")
          ? runtime.reply({ ...given, promptId: given.promptId.slice(0, -"-again".length) })
          : Effect.fail(gone)
    }))
  )
})
