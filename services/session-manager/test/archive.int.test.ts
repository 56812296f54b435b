import { existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Broker } from "@reprise/actor"
import { AgentRuntime } from "@reprise/agent"
import { type PermissionMode, RunId, type SessionCommand, SessionId, sessionIdOf, turnIdOf } from "@reprise/protocol"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Duration, Effect, Layer, Result, Schedule } from "effect"
import { layerWith } from "../src/service.ts"
import { readTranscript } from "../src/work/readTranscript.ts"
import { readPart, readSessionFile } from "../src/work/SessionFile.ts"
import { deleteSession, host, realWorld, TestDirectories } from "./support/realWorld.ts"
import { stageOf } from "./support/stage.ts"
import { newTurn, nextTurn } from "./support/story.ts"

const script: ScriptInput = {
  rules: [
    { match: { kind: "report" }, reply: { report: { result: "complete" } } },
    {
      match: { firstUser: { regex: "^Do it and hold" } },
      reply: [{ bash: "echo before" }, { hold: "aborted", text: "Too late." }]
    },
    {
      match: { lastUser: { regex: "^Read both" } },
      reply: [{ read: "{{cwd}}/stays.txt" }, { read: "{{cwd}}/changes.txt" }, { text: "I have read both." }]
    },
    { match: { firstUser: { regex: "^Talk" }, kind: "continue" }, reply: { text: "That is all." } },
    { match: { firstUser: { regex: "^Talk" } }, reply: { text: "And then", cutOff: true } },
    { match: { lastUser: "The whole task" }, reply: { text: "Began again." } },
    {
      match: { firstUser: "write" },
      reply: [{ write: { path: "{{cwd}}/made.txt", content: "made" } }, { bash: "cat made.txt" }, { text: "Made." }]
    },
    { match: {}, reply: { text: "Worked." } }
  ]
}

/** A run of its own for each test. */
const scene = Effect.fnUntraced(function* (name: string, prompt: string) {
  const runId = RunId.make(name)
  const sessionId = sessionIdOf(runId, 1)
  const { directory } = yield* TestDirectories
  const stage = yield* stageOf(runId)
  const shared = { runId, directory, host, permissions: "all" as const }
  const first = newTurn(1, { ...shared, turnId: turnIdOf(runId, 1), prompt })
  const second = nextTurn(2, { ...shared, turnId: turnIdOf(runId, 2), session: { _tag: "Existing", sessionId } })
  const send = (command: SessionCommand) => stage.send(command, sessionId)
  return { ...stage, directory, sessionId, first, second, send, view: stage.view(sessionId) }
})

const fileOf = Effect.fnUntraced(function* (object: string | undefined) {
  const { transcripts } = yield* Broker
  const text = yield* transcripts.get(object ?? "")
  return Result.getOrThrow(readSessionFile(text ?? "nothing is stored"))
})

const world = layerWith({ idleGrace: Duration.millis(500) }).pipe(Layer.provideMerge(realWorld(script)))

layer(world, { excludeTestServices: true, timeout: "15 minutes" })("the archive, on OpenCode and NATS", (it) => {
  it.effect("holds the whole conversation of a completed session, its metadata and its usage", () =>
    Effect.gen(function* () {
      const { awaitEvent, first, send, sessionId, view } = yield* scene("done", "Read both files.")
      writeFileSync(join(first.directory, "stays.txt"), "one")
      writeFileSync(join(first.directory, "changes.txt"), "two")
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      yield* send({ _tag: "CompleteSession", sessionId })
      const { object } = yield* awaitEvent("SessionArchived")
      assert.deepInclude(yield* view, { status: "completed", transcript: object ?? "none" })
      const { metadata, messages } = yield* fileOf(object)
      assert.deepInclude(metadata, {
        id: sessionId,
        runtime: "opencode",
        runtimeSessionId,
        model: "scripted/scripted",
        cwd: first.directory,
        role: "author",
        status: "completed",
        lastStopReason: "stop",
        turnCount: 1,
        toolCallCount: 2,
        messageCount: messages.length
      })
      assert.isAbove(metadata.totalInputTokens + metadata.totalCacheReadTokens, 0)
      const runtime = yield* AgentRuntime
      assert.deepStrictEqual(messages, yield* runtime.history(runtimeSessionId))
    })
  )

  it.effect("takes the place of the parts that were saved turn by turn, each with what was new", () =>
    Effect.gen(function* () {
      const { awaitEvent, first, second, send, sessionId, view } = yield* scene("parts", "Work.")
      const { transcripts } = yield* Broker
      const savedAfter = (turns: number) =>
        view.pipe(
          Effect.repeat({
            until: (shown) => shown.turns === turns && (shown.savedAt ?? "") >= shown.lastActivityAt,
            schedule: Schedule.spaced("20 millis")
          })
        )
      yield* send(first)
      yield* awaitEvent("TurnCompleted")
      const { transcript: one = "" } = yield* savedAfter(1)
      yield* send(second)
      yield* awaitEvent("TurnCompleted", 2)
      const { runtimeSessionId = "", transcript: two = "" } = yield* savedAfter(2)
      const part = Result.getOrThrow(readPart((yield* transcripts.get(two)) ?? ""))
      const runtime = yield* AgentRuntime
      const whole = yield* runtime.history(runtimeSessionId)
      assert.deepStrictEqual(part.after, { object: one, messages: whole.length - part.messages.length })
      assert.isAbove(part.after?.messages ?? 0, 0)
      assert.deepStrictEqual((yield* readTranscript(two))?.messages, whole)

      yield* send({ _tag: "CompleteSession", sessionId })
      const { object = "" } = yield* awaitEvent("SessionArchived")
      assert.deepStrictEqual((yield* readTranscript(two))?.messages, whole, "a part leads to the whole")
      yield* transcripts.list(object).pipe(Effect.repeat({ until: (names) => names.length === 1 }))
    })
  )

  it.effect("holds what was saved of a session that its runtime has lost", () =>
    Effect.gen(function* () {
      const { awaitEvent, first, second, send, view } = yield* scene("lost", "Work.")
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      yield* view.pipe(Effect.repeat({ until: ({ savedAt }) => savedAt !== undefined }))
      yield* deleteSession(runtimeSessionId)
      yield* send({ ...second, onMissing: "fail" })
      const { messages, object } = yield* awaitEvent("SessionArchived")
      const file = yield* fileOf(object)
      assert.strictEqual(file.metadata.status, "failed")
      assert.strictEqual(file.messages.length, messages)
      assert.include(JSON.stringify(file.messages), "Made.")
    })
  )

  it.effect("holds the conversation of an aborted session", () =>
    Effect.gen(function* () {
      const { awaitEvent, first, send, sessionId } = yield* scene("stopped", "Do it and hold.")
      const model = yield* ScriptedModel
      yield* send(first)
      yield* model.awaitHeld("aborted")
      yield* send({ _tag: "AbortSession", sessionId, reason: "stop" })
      const { object } = yield* awaitEvent("SessionArchived")
      const { metadata, messages } = yield* fileOf(object)
      assert.strictEqual(metadata.status, "aborted")
      assert.include(JSON.stringify(messages), "echo before")
    })
  )

  it.effect("gives the conversation of an expired session to its replacement, without outdated results", () =>
    Effect.gen(function* () {
      const { awaitEvent, directory, first, second, send, sessionId } = yield* scene("again", "Read both files.")
      writeFileSync(join(directory, "stays.txt"), "content that stays")
      writeFileSync(join(directory, "changes.txt"), "content that goes")
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      yield* send({ _tag: "ExpireSession", sessionId })
      yield* awaitEvent("SessionArchived")
      yield* send({ ...second, onMissing: "fail" })
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "session-missing", sessionUsable: false })

      writeFileSync(join(directory, "changes.txt"), "other content")
      const fresh = { ...second, turnId: turnIdOf(first.runId, 3), onMissing: "fresh" as const }
      yield* send({ ...fresh, freshPrompt: "The whole task." })
      const replaced = yield* awaitEvent("SessionReplaced")
      assert.deepInclude(replaced, { old: runtimeSessionId, reason: "it is expired" })
      yield* awaitEvent("TurnCompleted", 2)
      const runtime = yield* AgentRuntime
      const [prompt] = yield* runtime.history(replaced.new)
      const words = JSON.stringify(prompt)
      for (const kept of ["The whole task.", "Read both files.", "I have read both.", "content that stays"]) {
        assert.include(words, kept)
      }
      assert.notInclude(words, "content that goes")
      assert.strictEqual(words.split("fenced JSON block").length, 2, "only the new prompt asks for a report")
    })
  )

  it.effect("is not needed to attach to a live session, whose command line holds no secret", () =>
    Effect.gen(function* () {
      const { awaitEvent, directory, first, send } = yield* scene("attached", "Work.")
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      const runtime = yield* AgentRuntime
      const { argv, env } = yield* runtime.attachCommand(runtimeSessionId)
      assert.includeMembers([...argv], ["attach", "--session", runtimeSessionId, directory])
      assert.notInclude(argv.join(" "), env["OPENCODE_SERVER_PASSWORD"] ?? "no password")
      assert.isAbove((env["OPENCODE_SERVER_PASSWORD"] ?? "").length, 12)
    })
  )

  it.effect("a turn continues by itself in the same session when the model's output was cut off", () =>
    Effect.gen(function* () {
      const { awaitEvent, first, send } = yield* scene("talks", "Talk.")
      yield* send(first)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).lastLines, "That is all.")
      const runtime = yield* AgentRuntime
      const prompts = (yield* runtime.history(runtimeSessionId)).filter(({ role }) => role === "user")
      assert.strictEqual(prompts.length, 2)
      assert.match(JSON.stringify(prompts[1]), /Your last turn reached its limit/)
    })
  )

  it.effect.each([
    ["ask", ["edit", "bash"]],
    ["workspace", ["bash"]],
    ["all", []]
  ] as const)("in mode %s a standalone session asks permission for %j", ([permissions, asked]) =>
    Effect.gen(function* () {
      const { directory } = yield* TestDirectories
      rmSync(join(directory, "made.txt"), { force: true })
      const sessionId = SessionId.make(`alone-${permissions}`)
      const stage = yield* stageOf(RunId.make(sessionId))
      const start = (mode: PermissionMode): SessionCommand => ({
        _tag: "StartSession",
        sessionId,
        prompt: "Please write it, then list it.",
        runtime: "opencode",
        directory,
        host,
        permissions: mode,
        limits: {}
      })
      yield* stage.send(start(permissions), sessionId)
      // No orchestrator is here: the test asks for the turn in its place.
      const setup = { fresh: true, prompt: "Please write it, then list it.", directory, host, permissions } as const
      const turn = { ...newTurn(1, setup), turnId: turnIdOf(RunId.make(sessionId), 1), runId: RunId.make(sessionId) }
      yield* stage.send(turn, sessionId, `run.${sessionId}.1.0`)
      for (const [index, kind] of asked.entries()) {
        const prompt = yield* stage.awaitEvent("AgentPrompting", index + 1)
        assert.include(prompt.text, kind)
        yield* stage.send({ _tag: "ReplyToPrompt", sessionId, promptId: prompt.promptId, reply: "once" }, sessionId)
      }
      yield* stage.awaitEvent("TurnCompleted")
      yield* stage.send({ _tag: "CompleteSession", sessionId }, sessionId)
      yield* stage.awaitEvent("SessionCompleted")
      assert.isTrue(existsSync(join(directory, "made.txt")))
      const story = yield* stage.storyUntil("SessionCompleted")
      assert.strictEqual(story.filter((tag) => tag === "AgentPrompting").length, asked.length)
    })
  )
})
