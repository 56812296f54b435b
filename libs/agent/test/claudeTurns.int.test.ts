// @module-tag long
/** What Claude does besides the contract: its crashes in mid-tool, its humans, its permissions, its subagents. */
import { spawn } from "node:child_process"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { ScriptedModel } from "@reprise/scripted-model"
import { lacksClaude } from "@reprise/testing"
import { Effect, Fiber, Layer } from "effect"
import { findTranscript } from "../src/claude/transcript/TranscriptFile.ts"
import { AgentRuntime, type RuntimeEvent } from "../src/index.ts"
import { ClaudeProcesses, claudeRuntime, claudeWorld } from "./contract/claudeWorld.ts"
import { writesAndDelegates } from "./contract/delegation.ts"
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

type Prompting = Extract<RuntimeEvent, { type: "prompting" }>

const promptingIn =
  (id: string) =>
  (event: RuntimeEvent): event is Prompting =>
    event.type === "prompting" && event.sessionId === id

const answer = Effect.fnUntraced(function* (event: Prompting, reply: "once" | "always" | "reject") {
  const runtime = yield* AgentRuntime
  const { promptId, sessionId: runtimeSessionId } = event
  yield* runtime.reply({ runtimeSessionId, promptId, reply: { kind: "permission", reply } })
  return event.text
})

/** The process id that a tool's shell has written to a file. */
const shellOf = Effect.fnUntraced(function* (name: string) {
  const { directory } = yield* World
  return yield* waitUntil(
    Effect.sync(() => {
      const file = join(directory, name)
      return existsSync(file) ? Number(readFileSync(file, "utf8").trim()) || undefined : undefined
    })
  )
})

/** Claude writes a call down about when it makes it; killed before, it makes it again. */
const writtenDown = Effect.fnUntraced(function* (id: string) {
  const runtime = yield* AgentRuntime
  yield* waitUntil(
    Effect.map(runtime.inspect(id), ({ lastMessage }) => (lastMessage?.role === "assistant" ? true : undefined))
  )
})

const gone = (pid: number) =>
  Effect.flatMap(ClaudeProcesses, ({ all }) =>
    waitUntil(Effect.map(all, (pids) => (pids.includes(pid) ? undefined : true)))
  )

/** A human at a terminal, in print mode: Claude's own program, opened in our session. */
const human = Effect.fnUntraced(function* (id: string, words: string) {
  const runtime = yield* AgentRuntime
  const { environment } = yield* ClaudeProcesses
  const { argv, env } = yield* runtime.attachCommand(id)
  const [program, flag, script, ...rest] = argv
  const args = [flag ?? "", `${script} -p "$5"`, ...rest, words]
  const child = spawn(program, args, { env: { ...environment, ...env }, stdio: "ignore" })
  return yield* Effect.acquireRelease(
    Effect.succeed(new Promise<void>((resolve) => child.once("exit", () => resolve()))),
    () => Effect.sync(() => void child.kill("SIGKILL"))
  )
})

describe.skipIf(lacksClaude)("Claude", () => {
  layer(claudeWorld, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    writesAndDelegates(it)

    it.effect("ends the shell of a tool whose process was killed, and continues the turn with one prompt", () =>
      Effect.gen(function* () {
        const { crash, directory } = yield* World
        const id = yield* newSession("all")
        const ids = newIds()
        const turn = yield* Effect.forkChild(say(id, "run echo $$ > shell.pid; sleep 3600; echo late > late.txt", ids))
        const shell = yield* shellOf("shell.pid")
        yield* writtenDown(id)
        yield* crash
        const outcome = yield* Fiber.join(turn)
        assert.strictEqual(outcome.text, "went on")
        assert.strictEqual(outcome.toolCalls, 1)
        assert.strictEqual(yield* userMessages(id), 2)
        yield* gone(shell)
        assert.isFalse(existsSync(join(directory, "late.txt")))
        const { attempts, ...same } = outcome
        assert.strictEqual(attempts, 2)
        const again = yield* countingCalls(say(id, "run whatever", ids))
        assert.deepStrictEqual(again.result, same)
        assert.strictEqual(again.calls, 0)
      })
    )

    it.effect("continues a turn after its process was killed, and ends what that process left running", () =>
      Effect.gen(function* () {
        const { root, stateDirectory } = yield* Places
        const { url } = yield* ScriptedModel
        const id = yield* newSession("all")
        const ids = newIds()
        const text = "run echo $$ > other.pid; sleep 3600"
        const program = join(import.meta.dirname, "ownClaude.ts")
        const owner = spawn(process.execPath, [program, stateDirectory, root, url, id, ids.messageId, text], {
          stdio: "ignore"
        })
        const shell = yield* shellOf("other.pid")
        yield* writtenDown(id)
        owner.kill("SIGKILL")
        yield* gone(shell)
        const outcome = yield* say(id, text, ids).pipe(Effect.provide(Layer.fresh(claudeRuntime)))
        assert.strictEqual(outcome.text, "went on")
      })
    )

    it.effect("returns the outcome of a turn that ended in another process without a model call", () =>
      Effect.gen(function* () {
        const id = yield* newSession()
        const ids = newIds()
        const outcome = yield* say(id, "say once", ids)
        const again = yield* countingCalls(say(id, "say once", ids).pipe(Effect.provide(Layer.fresh(claudeRuntime))))
        assert.deepStrictEqual(again.result, outcome)
        assert.strictEqual(again.calls, 0)
        assert.isAbove(outcome.cost, 0)
      })
    )

    it.effect("reports a human's work in a session and its end, with the human's prompt as the cause", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { reached, release } = yield* World
        const id = yield* newSession()
        const ids = newIds()
        yield* say(id, "say before", ids)
        const seen = yield* recordEvents
        const mine = () => seen.filter((event) => event.sessionId === id)
        const exited = yield* human(id, "hold events")
        yield* reached("events")
        const working = yield* waitUntil(Effect.sync(() => mine().find((event) => event.type === "working")))
        assert.isDefined(working.causePromptId)
        assert.notStrictEqual(working.causePromptId, ids.messageId)
        assert.deepStrictEqual((yield* runtime.inspect(id)).state, { _tag: "busy" })
        assert.strictEqual((yield* Effect.flip(say(id, "say me too"))).kind, "busy")
        yield* release("events")
        yield* Effect.promise(() => exited)
        yield* waitUntil(Effect.sync(() => mine().find((event) => event.type === "idle")))
        assert.deepStrictEqual((yield* runtime.inspect(id)).state, { _tag: "idle" })
        assert.strictEqual((yield* say(id, "turn number")).text, "turn 3")
      })
    )

    it.effect("calls a session missing whose transcript is gone, and does not start it again", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { root } = yield* Places
        const id = yield* newSession()
        yield* say(id, "say something")
        const path = yield* Effect.promise(() => findTranscript(join(root, "claude"), id))
        rmSync(path ?? "")
        assert.deepStrictEqual((yield* runtime.inspect(id)).state, { _tag: "missing" })
        assert.strictEqual((yield* Effect.flip(say(id, "say more"))).kind, "session-missing")
      })
    )

    it.effect("asks before a shell command in the workspace, and not again when it was always allowed", () =>
      Effect.gen(function* () {
        const seen = yield* recordEvents
        const id = yield* newSession("workspace")
        const turn = yield* Effect.forkChild(say(id, "run echo often"))
        yield* answer(yield* awaitEvent(seen, promptingIn(id)), "always")
        assert.strictEqual((yield* Fiber.join(turn)).text, "ran")
        assert.strictEqual((yield* say(id, "run echo often")).text, "ran")
        assert.strictEqual(seen.filter(promptingIn(id)).length, 1)
      })
    )

    it.effect("withdraws the question of a turn that is aborted", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { directory } = yield* World
        const seen = yield* recordEvents
        const id = yield* newSession("ask")
        const turn = yield* Effect.forkChild(Effect.flip(say(id, "fetch http://127.0.0.1:9/")))
        const { promptId } = yield* awaitEvent(seen, promptingIn(id))
        yield* runtime.abort(id)
        assert.strictEqual((yield* Fiber.join(turn)).kind, "aborted")
        yield* waitUntil(
          Effect.sync(() => seen.find((event) => event.type === "replied" && event.promptId === promptId))
        )
        assert.deepStrictEqual(yield* runtime.pendingPrompts(directory), [])
      })
    )

    it.effect("ends a turn at its limit of model calls, and continues when prompted again", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { directory } = yield* World
        const id = yield* newSession("all")
        const prompt = { runtimeSessionId: id, directory, promptId: newIds(), text: "endless", maxTurns: 2 }
        const outcome = yield* runtime.prompt(prompt)
        assert.strictEqual(outcome.stopReason, "output-limit")
        const again = yield* countingCalls(runtime.prompt(prompt))
        assert.deepStrictEqual(again.result, outcome)
        assert.strictEqual(again.calls, 0)
        assert.strictEqual((yield* say(id, "say after")).text, "after")
      })
    )

    it.effect("reports that the conversation is too long and the session unusable", () =>
      Effect.gen(function* () {
        const id = yield* newSession()
        const error = yield* Effect.flip(say(id, "too long"))
        assert.strictEqual(error.kind, "context-overflow")
        assert.isFalse(error.sessionUsable)
      })
    )
  })
})
