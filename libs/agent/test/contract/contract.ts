/** What every runtime keeps, as a function of a layer that provides one. */
import { assert, describe, layer } from "@effect/vitest"
import { lacksAgent } from "@reprise/testing"
import { Effect, Fiber, type Layer } from "effect"
import { type AgentError, AgentRuntime, type RuntimeEvent } from "../../src/index.ts"
import { forkContract } from "./forkContract.ts"
import type { Untold } from "./Untold.ts"
import {
  awaitEvent,
  countingCalls,
  newIds,
  newSession,
  prompting,
  recordEvents,
  say,
  userMessages,
  World,
  waitUntil
} from "./World.ts"

export const agentRuntimeContract = <E>(
  name: string,
  world: Layer.Layer<AgentRuntime | World, E>,
  untold: ReadonlyArray<Untold> = []
) =>
  describe.skipIf(lacksAgent(name))(`AgentRuntime: ${name}`, () => {
    const tells = (what: Untold) => !untold.includes(what)
    layer(world, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
      it.effect("makes a session that is empty until it is prompted", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const id = yield* newSession()
          const inspection = yield* runtime.inspect(id)
          assert.deepStrictEqual(inspection.state, { _tag: "empty" })
          assert.strictEqual(inspection.messageCount, 0)
        })
      )

      it.effect("runs a turn to its end and returns its text, tokens and cost", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const id = yield* newSession()
          const ids = newIds()
          const outcome = yield* say(id, "say hello there", ids)
          assert.strictEqual(outcome.text, "hello there")
          assert.strictEqual(outcome.stopReason, "finished")
          assert.strictEqual(outcome.toolCalls, 0)
          if (tells("usage")) assert.isAbove(outcome.tokens.input, 0)
          const { lastMessage, messageCount, model, state, usage } = yield* runtime.inspect(id)
          assert.deepStrictEqual(state, { _tag: "idle" })
          assert.strictEqual(messageCount, 2)
          assert.deepStrictEqual(usage.tokens, outcome.tokens)
          assert.strictEqual(usage.calls, 1)
          if (tells("models")) assert.isString(outcome.model)
          assert.strictEqual(model, outcome.model)
          assert.strictEqual(lastMessage?.causePromptId, ids.messageId)
          assert.isTrue(lastMessage?.finished)
        })
      )

      it.effect("returns the same outcome for the same ids without a model call", () =>
        Effect.gen(function* () {
          const id = yield* newSession()
          const ids = newIds()
          const first = yield* say(id, "say once", ids)
          yield* say(id, "say more")
          const again = yield* countingCalls(say(id, "say once", ids))
          const { spokenAfter: _, ...outcome } = again.result
          assert.deepStrictEqual(outcome, first)
          assert.strictEqual(again.calls, 0)
          assert.strictEqual(yield* userMessages(id), 2)
        })
      )

      it.effect("continues the same conversation", () =>
        Effect.gen(function* () {
          const id = yield* newSession()
          yield* say(id, "say first")
          assert.strictEqual((yield* say(id, "turn number")).text, "turn 2")
        })
      )

      it.effect("joins the running turn when its ids are sent again", () =>
        Effect.gen(function* () {
          const { reached, release } = yield* World
          const id = yield* newSession()
          const ids = newIds()
          const { calls, result } = yield* countingCalls(
            Effect.gen(function* () {
              const first = yield* Effect.forkChild(say(id, "hold join", ids))
              yield* reached("join")
              const second = yield* Effect.forkChild(say(id, "hold join", ids), { startImmediately: true })
              yield* release("join")
              return [yield* Fiber.join(first), yield* Fiber.join(second)] as const
            })
          )
          // How often each had to ask is its own: a slow runtime may take a prompt at the second time.
          const [first, second] = result.map(({ attempts: _, ...outcome }) => outcome)
          assert.deepStrictEqual(first, second)
          assert.strictEqual(calls, 1)
          assert.strictEqual(yield* userMessages(id), 1)
        })
      )

      it.effect("refuses a second turn in a busy session", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const { reached, release } = yield* World
          const id = yield* newSession()
          const first = yield* Effect.forkChild(say(id, "hold busy"))
          yield* reached("busy")
          assert.deepStrictEqual((yield* runtime.inspect(id)).state, { _tag: "busy" })
          const error = yield* Effect.flip(say(id, "say me too"))
          assert.strictEqual(error.kind, "busy")
          yield* release("busy")
          yield* Fiber.join(first)
          assert.strictEqual(yield* userMessages(id), 1)
        })
      )

      it.effect("aborts a turn for all later tries and leaves the session usable", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const { reached } = yield* World
          const id = yield* newSession()
          const ids = newIds()
          const turn = yield* Effect.forkChild(Effect.flip(say(id, "hold abort", ids)))
          yield* reached("abort")
          yield* runtime.abort(id)
          assert.strictEqual((yield* Fiber.join(turn)).kind, "aborted")
          assert.deepStrictEqual((yield* runtime.inspect(id)).state, { _tag: "idle" })
          const again = yield* countingCalls(Effect.flip(say(id, "hold abort", ids)))
          assert.strictEqual(again.result.kind, "aborted")
          assert.strictEqual(again.calls, 0)
          assert.strictEqual((yield* say(id, "say still here")).text, "still here")
        })
      )

      it.effect("distinguishes a missing session from a failure", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          for (const id of ["ses_0000000000000000000000000000", "no session"]) {
            assert.deepStrictEqual((yield* runtime.inspect(id)).state, { _tag: "missing" })
            const error = yield* Effect.flip(say(id, "say hello"))
            assert.strictEqual(error.kind, "session-missing")
            assert.isFalse(error.sessionUsable)
            yield* runtime.abort(id)
          }
        })
      )

      it.effect.runIf(tells("refusals"))("fails a turn whose key is refused, and tries again when prompted again", () =>
        Effect.gen(function* () {
          const id = yield* newSession()
          const ids = newIds()
          const error = yield* Effect.flip(say(id, "unauthorized", ids))
          assert.strictEqual(error.kind, "unauthorized")
          assert.isTrue(error.sessionUsable)
          const again = yield* countingCalls(Effect.flip(say(id, "unauthorized", ids)))
          assert.strictEqual(again.result.kind, "unauthorized")
          if (tells("tries")) assert.strictEqual(again.calls, 1)
          assert.strictEqual(yield* userMessages(id), 1)
        })
      )

      it.effect.runIf(tells("waits"))(
        "fails a turn that is rate limited for long, and continues it with the same ids",
        () =>
          Effect.gen(function* () {
            const id = yield* newSession()
            const ids = newIds()
            const error: AgentError = yield* Effect.flip(say(id, "limited", ids))
            assert.strictEqual(error.kind, "rate_limited")
            assert.isTrue(error.sessionUsable)
            assert.isAbove(error.retryAfterMs ?? 0, 3_000_000)
            assert.strictEqual((yield* say(id, "limited", ids)).text, "served")
            assert.strictEqual(yield* userMessages(id), 1)
          })
      )

      it.effect("survives an answer that breaks off, at once or when prompted again", () =>
        Effect.gen(function* () {
          const seen = yield* recordEvents
          const id = yield* newSession()
          if (!tells("mending")) {
            const ids = newIds()
            const error = yield* Effect.flip(say(id, "drop", ids))
            assert.strictEqual(error.kind, "no_internet")
            assert.isTrue(error.sessionUsable)
            assert.strictEqual((yield* say(id, "drop", ids)).stopReason, "finished")
            assert.strictEqual(yield* userMessages(id), 1)
            return
          }
          const { text } = yield* say(id, "drop")
          if (tells("pieces")) assert.strictEqual(text, "recovered")
          else assert.isTrue(text.endsWith("recovered"))
          if (!tells("waits")) return
          const failed = yield* awaitEvent(
            seen,
            (event): event is Extract<RuntimeEvent, { type: "failed" }> =>
              event.type === "failed" && event.sessionId === id
          )
          assert.isTrue(failed.recovering)
        })
      )

      it.effect.runIf(tells("permissions"))(
        "asks before a tool that needs permission, and continues with the answer",
        () =>
          Effect.gen(function* () {
            const { directory } = yield* World
            const runtime = yield* AgentRuntime
            const seen = yield* recordEvents
            const id = yield* newSession("ask")
            const ids = newIds()
            const turn = yield* Effect.forkChild(say(id, "run touch leave", ids))
            const event = yield* awaitEvent(seen, prompting)
            assert.strictEqual(event.sessionId, id)
            assert.strictEqual(event.causePromptId, ids.messageId)
            assert.strictEqual(event.kind, "permission")
            assert.include(event.text, "touch leave")
            assert.deepStrictEqual(
              event.options.map((option) => option.name),
              ["once", "always", "reject"]
            )
            const pending = yield* runtime.pendingPrompts(directory)
            assert.deepStrictEqual(
              pending.map((it) => it.promptId),
              [event.promptId]
            )
            const { state } = yield* runtime.inspect(id)
            assert.strictEqual(state._tag, "prompting")
            const answer = { runtimeSessionId: id, promptId: event.promptId } as const
            const once = { kind: "permission", reply: "once" } as const
            assert.strictEqual(yield* runtime.reply({ ...answer, reply: once }), "delivered")
            const outcome = yield* Fiber.join(turn)
            assert.strictEqual(outcome.text, "ran")
            assert.strictEqual(outcome.toolCalls, 1)
            assert.strictEqual(yield* runtime.reply({ ...answer, reply: once }), "gone")
            yield* waitUntil(
              Effect.sync(() => seen.find((it) => it.type === "replied" && it.promptId === event.promptId))
            )
            assert.deepStrictEqual(yield* runtime.pendingPrompts(directory), [])
          })
      )

      it.effect.runIf(tells("permissions"))("ends a turn whose tool is refused", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const seen = yield* recordEvents
          const id = yield* newSession("ask")
          const turn = yield* Effect.forkChild(say(id, "run touch refused"))
          const { promptId } = yield* awaitEvent(seen, prompting)
          yield* runtime.reply({ runtimeSessionId: id, promptId, reply: { kind: "permission", reply: "reject" } })
          assert.strictEqual((yield* Fiber.join(turn)).stopReason, "refused")
          assert.deepStrictEqual((yield* runtime.inspect(id)).state, { _tag: "idle" })
        })
      )

      it.effect.runIf(tells("permissions"))(
        "tells its agent what a human says with the rejection of a tool, and the turn goes on",
        () =>
          Effect.gen(function* () {
            const runtime = yield* AgentRuntime
            const seen = yield* recordEvents
            const id = yield* newSession("ask")
            const turn = yield* Effect.forkChild(say(id, "run touch corrected"))
            const { promptId } = yield* awaitEvent(seen, prompting)
            const reply = { kind: "permission", reply: "reject", message: "Use the other file." } as const
            yield* runtime.reply({ runtimeSessionId: id, promptId, reply })
            assert.strictEqual((yield* Fiber.join(turn)).stopReason, "finished")
            assert.include(JSON.stringify(yield* runtime.history(id)), "Use the other file.")
          })
      )

      it.effect("asks nothing in a session that is allowed everything", () =>
        Effect.gen(function* () {
          const id = yield* newSession("all")
          const outcome = yield* say(id, "run echo free")
          assert.strictEqual(outcome.text, "ran")
        })
      )

      it.effect.runIf(tells("questions"))("asks a human the agent's own questions", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const seen = yield* recordEvents
          const id = yield* newSession("all")
          const turn = yield* Effect.forkChild(say(id, "choose"))
          const event = yield* awaitEvent(seen, prompting)
          assert.strictEqual(event.kind, "question")
          assert.include(event.text, "Which colour?")
          assert.deepStrictEqual(
            event.options.map((option) => option.name),
            ["red", "green"]
          )
          const reply = { kind: "question", answers: [["green"]] } as const
          yield* runtime.reply({ runtimeSessionId: id, promptId: event.promptId, reply })
          assert.strictEqual((yield* Fiber.join(turn)).text, "chosen")
        })
      )

      it.effect.runIf(tells("questions"))("ends a turn whose question is dismissed", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const seen = yield* recordEvents
          const id = yield* newSession("all")
          const turn = yield* Effect.forkChild(say(id, "choose"))
          const { promptId } = yield* awaitEvent(seen, prompting)
          yield* runtime.reply({ runtimeSessionId: id, promptId, reply: { kind: "question", dismiss: true } })
          assert.strictEqual((yield* Fiber.join(turn)).stopReason, "refused")
        })
      )

      it.effect("finishes the turn that was running when the runtime was killed", () =>
        Effect.gen(function* () {
          const { crash, reached, release } = yield* World
          const id = yield* newSession()
          yield* say(id, "say before")
          const turn = yield* Effect.forkChild(say(id, "hold crash"))
          yield* reached("crash")
          yield* crash
          yield* release("crash")
          assert.strictEqual((yield* Fiber.join(turn)).text, "released")
          assert.strictEqual(yield* userMessages(id), 2)
        })
      )

      it.effect("reports work and its end with the prompt that caused it", () =>
        Effect.gen(function* () {
          const { reached, release } = yield* World
          const seen = yield* recordEvents
          const id = yield* newSession()
          const ids = newIds()
          const mine = () => seen.filter((event) => event.sessionId === id)
          const turn = yield* Effect.forkChild(say(id, "hold events", ids))
          yield* reached("events")
          assert.isFalse(mine().some((event) => event.type === "idle"))
          yield* release("events")
          yield* Fiber.join(turn)
          yield* waitUntil(Effect.sync(() => mine().find((event) => event.type === "idle")))
          assert.isTrue(mine().some((event) => event.type === "working"))
          assert.deepStrictEqual(new Set(mine().map((event) => event.causePromptId)), new Set([ids.messageId]))
          assert.strictEqual(mine().filter((event) => event.type === "idle").length, 1)
        })
      )

      it.effect("returns the conversation in a form that every runtime shares", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const id = yield* newSession("all")
          yield* say(id, "run echo history")
          const history = yield* runtime.history(id)
          const types = history.flatMap((message) => message.content.map((block) => `${message.role} ${block.type}`))
          assert.deepStrictEqual(types, ["user text", "assistant tool_use", "assistant tool_result", "assistant text"])
        })
      )

      forkContract(it, tells)

      it.effect.runIf(tells("attach"))("gives the command that opens the session", () =>
        Effect.gen(function* () {
          const runtime = yield* AgentRuntime
          const id = yield* newSession()
          const { argv, env } = yield* runtime.attachCommand(id)
          assert.isTrue(argv.includes(id))
          for (const secret of Object.values(env).filter((value) => value.length > 12)) {
            assert.isFalse(argv.some((argument) => argument.includes(secret)))
          }
        })
      )

      it.effect("gives the models and the version", () =>
        Effect.gen(function* () {
          const { directory } = yield* World
          const runtime = yield* AgentRuntime
          const models = yield* runtime.models(directory)
          assert.strictEqual(
            models.some((model) => /\bscripted\b/.test(model)),
            tells("models"),
            models.join(", ")
          )
          const { running, version } = yield* runtime.check
          assert.isTrue(running)
          assert.match(version, /^\d+\.\d+\.\d+/)
        })
      )
    })
  })
