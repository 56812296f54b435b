/** What OpenCode does besides the contract: its crashes in mid-tool, its permissions, its ways to shorten and delegate. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { markedProcesses } from "@reprise/process"
import { addTokens } from "@reprise/protocol"
import { ScriptedModel } from "@reprise/scripted-model"
import { Effect, Fiber, Layer } from "effect"
import { AgentRuntime, layerOpenCode, OpenCodeServer, type RuntimeEvent } from "../src/index.ts"
import { clientFor } from "../src/opencode/server/http.ts"
import { markOf } from "../src/opencode/server/startServer.ts"
import { permissionRules } from "../src/opencode/session/permissionRules.ts"
import { heldBack, noRules } from "../src/rules/PermissionRules.ts"
import { rulesInMemory } from "../src/rules/RuleBook.ts"
import { writesAndDelegates } from "./contract/delegation.ts"
import { killServer, openCodeWorld } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import {
  awaitEvent,
  countingCalls,
  newIds,
  newSession,
  recordEvents,
  say,
  userMessages,
  World,
  waitUntil
} from "./contract/World.ts"

const prompting = (event: RuntimeEvent): event is Extract<RuntimeEvent, { type: "prompting" }> =>
  event.type === "prompting"

/** Answers the next request of a session with a refusal, and gives its text. */
const refuseNext = Effect.fnUntraced(function* (seen: ReadonlyArray<RuntimeEvent>, id: string) {
  const runtime = yield* AgentRuntime
  const event = yield* awaitEvent(
    seen,
    (it): it is Extract<RuntimeEvent, { type: "prompting" }> => prompting(it) && it.sessionId === id
  )
  yield* runtime.reply({
    runtimeSessionId: id,
    promptId: event.promptId,
    reply: { kind: "permission", reply: "reject" }
  })
  return event.text
})

describe("OpenCode", () => {
  layer(openCodeWorld, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    writesAndDelegates(it)

    it.effect("gives a session that is older than its rules the new ones with its next prompt, once", () =>
      Effect.gen(function* () {
        const { directory } = yield* World
        const server = yield* OpenCodeServer
        const id = yield* newSession("all")
        yield* say(id, "run echo free")
        const deny = { ...noRules.deny, commands: ["touch *"] }
        const rules = rulesInMemory({ ...noRules, deny })
        const same = Layer.succeed(OpenCodeServer, server)
        const later = yield* Layer.build(Layer.fresh(layerOpenCode({ pollMs: 250, rules })).pipe(Layer.provide(same)))
        const connection = yield* server.connection
        const client = yield* Effect.promise(() => clientFor(connection))
        const ruleCount = Effect.map(
          Effect.promise(() => client.session.get({ sessionID: id, directory })),
          ({ data }) => data?.permission?.length ?? 0
        )
        const before = yield* ruleCount
        for (const text of ["run echo once", "run echo more"]) {
          assert.strictEqual((yield* Effect.provide(say(id, text), later)).text, "ran")
        }
        assert.strictEqual(
          yield* ruleCount,
          before + permissionRules("all", false, heldBack(yield* rules.rules)).length
        )
      })
    )

    it.effect("ends the shell of a tool whose server was killed, and finishes the turn", () =>
      Effect.gen(function* () {
        const { directory, stateDirectory } = yield* Places
        const mark = yield* markOf(stateDirectory)
        const id = yield* newSession("all")
        const turn = yield* Effect.forkChild(say(id, "run echo $$ > shell.pid; sleep 3600; echo late > late.txt"))
        const shell = yield* waitUntil(
          Effect.sync(() => {
            const file = join(directory, "shell.pid")
            return existsSync(file) ? Number(readFileSync(file, "utf8").trim()) || undefined : undefined
          })
        )
        assert.isTrue((yield* markedProcesses(mark)).includes(shell))
        yield* killServer
        const outcome = yield* Fiber.join(turn)
        assert.strictEqual(outcome.text, "ran")
        assert.strictEqual(yield* userMessages(id), 1)
        assert.isFalse((yield* markedProcesses(mark)).includes(shell))
        assert.isFalse(existsSync(join(directory, "late.txt")))
      })
    )

    it.effect("does not make the model finish a sentence that a kill cut off", () =>
      Effect.gen(function* () {
        const model = yield* ScriptedModel
        const { crash, reached, release } = yield* World
        const id = yield* newSession()
        const turn = yield* Effect.forkChild(say(id, "hold crash"))
        yield* reached("crash")
        yield* crash
        yield* release("crash")
        yield* Fiber.join(turn)
        const last = (yield* model.calls).findLast((call) => call.session === id)
        assert.strictEqual(last?.messages.at(-1)?.role, "user")
      })
    )

    it.effect("ends a turn at its limit of rounds of tool calls, and continues when prompted again", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { directory, release } = yield* World
        const id = yield* newSession("all")
        const prompt = { runtimeSessionId: id, directory, promptId: newIds(), text: "endless", maxTurns: 2 }
        const outcome = yield* runtime.prompt(prompt)
        assert.strictEqual(outcome.stopReason, "output-limit")
        assert.strictEqual(outcome.toolCalls, 2)
        assert.notInclude(outcome.text, "late")
        const again = yield* countingCalls(runtime.prompt(prompt))
        assert.deepStrictEqual(again.result, outcome)
        assert.strictEqual(again.calls, 0)
        assert.strictEqual((yield* say(id, "say after")).text, "after")
        yield* release("limit")
        const whole = { ...prompt, promptId: newIds(), maxTurns: 4 }
        assert.strictEqual((yield* runtime.prompt(whole)).stopReason, "finished")
      })
    )

    it.effect("asks before a write to files that others execute, such as git's hooks", () =>
      Effect.gen(function* () {
        const { directory } = yield* Places
        const seen = yield* recordEvents
        const id = yield* newSession("workspace")
        const turn = yield* Effect.forkChild(say(id, `write ${join(directory, ".git", "hooks", "pre-commit")}`))
        assert.include(yield* refuseNext(seen, id), "pre-commit")
        yield* Fiber.join(turn)
      })
    )

    it.effect("reports a request that OpenCode itself cannot list, and withdraws it with the turn", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { directory } = yield* Places
        const seen = yield* recordEvents
        const id = yield* newSession("ask")
        const turn = yield* Effect.forkChild(Effect.flip(say(id, "fetch http://127.0.0.1:9/")))
        const { promptId } = yield* awaitEvent(seen, prompting)
        const pending = yield* runtime.pendingPrompts(directory)
        assert.deepStrictEqual(
          pending.map((prompt) => prompt.promptId),
          [promptId]
        )
        assert.strictEqual((yield* runtime.inspect(id)).state._tag, "prompting")
        yield* runtime.abort(id)
        assert.strictEqual((yield* Fiber.join(turn)).kind, "aborted")
        yield* waitUntil(
          Effect.sync(() => seen.find((event) => event.type === "replied" && event.promptId === promptId))
        )
        assert.deepStrictEqual(yield* runtime.pendingPrompts(directory), [])
      })
    )

    it.effect("withdraws the requests of a killed server, and finishes the turn", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const seen = yield* recordEvents
        const id = yield* newSession("ask")
        const turn = yield* Effect.forkChild(say(id, "run echo twice"))
        const first = yield* awaitEvent(seen, prompting)
        yield* killServer
        yield* waitUntil(
          Effect.sync(() => seen.find((event) => event.type === "replied" && event.promptId === first.promptId))
        )
        const gone = { runtimeSessionId: id, promptId: first.promptId } as const
        const once = { kind: "permission", reply: "once" } as const
        assert.strictEqual(yield* runtime.reply({ ...gone, reply: once }), "gone")
        assert.strictEqual((yield* Fiber.join(turn)).text, "ran")
        assert.strictEqual(yield* userMessages(id), 1)
      })
    )

    it.effect("counts a subagent that is resumed for each turn with what it used in that turn", () =>
      Effect.gen(function* () {
        const model = yield* ScriptedModel
        const runtime = yield* AgentRuntime
        const before = (yield* model.calls).length
        const id = yield* newSession("all")
        const ids = newIds()
        const first = yield* say(id, "delegate", ids)
        const ofFirst = (yield* model.calls).slice(before)
        const subagent = ofFirst.find(({ session }) => session !== id)?.session ?? ""
        const second = yield* say(id, `resume ${subagent}`)
        const all = (yield* model.calls).slice(before)
        assert.strictEqual(second.text, "resumed")
        assert.deepStrictEqual(new Set(all.map(({ session }) => session)), new Set([id, subagent]))
        const asked = all.slice(ofFirst.length).reduce((sum, call) => sum + call.usage.inputTokens, 0)
        assert.strictEqual(second.tokens.input + second.tokens.cacheRead, asked)
        assert.deepStrictEqual((yield* say(id, "delegate", ids)).tokens, first.tokens)
        const { usage } = yield* runtime.inspect(id)
        assert.deepStrictEqual(usage.tokens, addTokens(first.tokens, second.tokens))
        assert.strictEqual(usage.calls, all.length)
      })
    )

    it.effect("offers no subagents to an agent that must ask, since subagents would not ask", () =>
      Effect.gen(function* () {
        const model = yield* ScriptedModel
        const id = yield* newSession("ask")
        yield* say(id, "say anything")
        const tools = (yield* model.calls).findLast((call) => call.session === id)?.tools ?? []
        assert.include(tools, "bash")
        assert.notInclude(tools, "task")
      })
    )

    it.effect("counts what follows OpenCode's own summary to the same turn", () =>
      Effect.gen(function* () {
        const seen = yield* recordEvents
        const id = yield* newSession()
        const ids = newIds()
        const outcome = yield* say(id, "overflow", ids)
        assert.strictEqual(outcome.text, "continued after the summary")
        const again = yield* say(id, "overflow", ids)
        assert.deepStrictEqual(again, outcome)
        yield* waitUntil(Effect.sync(() => seen.find((event) => event.type === "idle")))
        assert.deepStrictEqual(new Set(seen.map((event) => event.causePromptId)), new Set([ids.messageId]))
      })
    )

    it.effect("refuses ids that were used in another session", () =>
      Effect.gen(function* () {
        const ids = newIds()
        yield* say(yield* newSession(), "say first", ids)
        const error = yield* Effect.flip(say(yield* newSession(), "say second", ids))
        assert.strictEqual(error.kind, "other")
        assert.include(error.message, "ids")
      })
    )

    it.effect("names an agent or model that it does not know", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { directory } = yield* Places
        const id = yield* newSession()
        const prompt = { runtimeSessionId: id, directory, text: "say hello" }
        const model = yield* Effect.flip(runtime.prompt({ ...prompt, promptId: newIds(), model: "nobody/nothing" }))
        assert.include(model.message, "nobody/nothing")
        const agent = yield* Effect.flip(runtime.prompt({ ...prompt, promptId: newIds(), agent: "nobody" }))
        assert.include(agent.message, "nobody")
      })
    )
  })
})
