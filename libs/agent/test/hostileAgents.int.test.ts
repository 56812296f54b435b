/** Agents that misbehave over the Agent Client Protocol: each ends in a clear failure, within its limit. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { markedProcesses } from "@reprise/process"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { AgentRuntime, type AgentRuntimeShape, layerAcp, promptIds, type RuntimeEvent } from "../src/index.ts"
import { defaultRestarts } from "../src/restarts.ts"
import { awaitEvent, recordEvents, waitUntil } from "./contract/World.ts"

const fixture = join(import.meta.dirname, "fixtures", "acpAgent.ts")

const limits = {
  startTimeoutMs: 60_000,
  callTimeoutMs: 60_000,
  stopTimeoutMs: 1000,
  lineBytes: 256 * 1024,
  outputBytes: 2 * 1024 * 1024
}

/** For an agent that never answers. */
const impatient = { ...limits, startTimeoutMs: 3000 }

const makeHome = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "reprise-acp-"))
    const directory = join(root, "work")
    mkdirSync(directory)
    return { root, directory, stateDirectory: join(root, "state") }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
)

interface Home {
  readonly root: string
  readonly directory: string
  readonly stateDirectory: string
}

/** A runtime on an agent that misbehaves so; it ends with the scope. */
const runtimeOf = (mode: string, { directory, root, stateDirectory }: Home, given = limits) =>
  Effect.map(
    Layer.build(
      layerAcp({
        command: `${process.execPath} ${fixture} ${mode} ${directory}`,
        stateDirectory,
        environment: { PATH: process.env["PATH"], HOME: root, XDG_CACHE_HOME: join(root, "cache") },
        limits: given
      })
    ),
    (context) => Context.get(context, AgentRuntime)
  )

const create = (runtime: AgentRuntimeShape, { directory }: Home) =>
  runtime.create({ directory, title: "hostile", permissions: "ask" })

let count = 0
const say = (
  runtime: AgentRuntimeShape,
  home: Home,
  text: string,
  promptId = promptIds(Date.now(), "hostile", count++)
) => runtime.prompt({ runtimeSessionId: "only", directory: home.directory, promptId, text })

const untilNothingRuns = ({ stateDirectory }: Home) =>
  waitUntil(
    Effect.map(markedProcesses(`REPRISE_ACP_STATE=${stateDirectory}`), (pids) => (pids.length === 0 ? true : undefined))
  )

/** A session with an agent that misbehaves so. */
const begin = Effect.fnUntraced(function* (mode: string) {
  const home = yield* makeHome
  const runtime = yield* runtimeOf(mode, home)
  const seen = yield* Effect.provideService(recordEvents, AgentRuntime, runtime)
  yield* create(runtime, home)
  return { home, runtime, seen }
})

describe("an agent that fails at its start", () => {
  it.live.each([
    ["hangs", /did not answer initialize within 3000 ms/],
    ["dies-at-start", /ended with 3.*There is no licence on this machine/],
    ["broken-at-start", /not JSON-RPC 2.0: Welcome to the agent!/],
    ["flood-at-start", /wrote a line of more than 262144 bytes/],
    ["no-version", /names no version/],
    ["other-version", /speaks version 7 of the protocol, Reprise version 1/]
  ] as const)("is gone, ended, and says why: %s", ([mode, words]) =>
    Effect.gen(function* () {
      const home = yield* makeHome
      const runtime = yield* runtimeOf(mode, home, mode === "hangs" ? impatient : limits)
      const error = yield* Effect.flip(create(runtime, home))
      assert.strictEqual(error.kind, "gone")
      assert.match(error.detail, words)
      yield* untilNothingRuns(home)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    [20, 20],
    [3, 2]
  ] as const)("is started again when it is killed %i times in its start, up to %i", ([times, mostEnds]) =>
    Effect.gen(function* () {
      const home = yield* makeHome
      const starts = join(home.root, "starts")
      const program = join(home.root, "killed-agent")
      const lines = [
        `echo start >> '${starts}'`,
        `[ $(wc -l < '${starts}') -gt ${times} ] || kill -KILL $$`,
        `exec '${process.execPath}' '${fixture}' files '${home.directory}'`
      ]
      writeFileSync(program, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 })
      const context = yield* Layer.build(
        layerAcp({
          command: program,
          stateDirectory: home.stateDirectory,
          environment: { PATH: process.env["PATH"], HOME: home.root, XDG_CACHE_HOME: join(home.root, "cache") },
          limits,
          restarts: { ...defaultRestarts, firstPauseMs: 1, longestPauseMs: 10, mostEnds }
        })
      )
      const runtime = Context.get(context, AgentRuntime)
      const created = yield* Effect.result(create(runtime, home))
      if (times <= mostEnds) return assert.propertyVal(created, "success", "only")
      const error = yield* Effect.flip(Effect.fromResult(created))
      assert.strictEqual(error.kind, "gone")
      assert.match(error.detail, /It ended 3 times within 1 s. The last time: It ended with 137./)
      assert.strictEqual(yield* create(runtime, home), "only")
    }).pipe(Effect.scoped)
  )

  it.live("is gone when there is no such program", () =>
    Effect.gen(function* () {
      const home = yield* makeHome
      const context = yield* Layer.build(
        layerAcp({
          command: "no-such-agent-anywhere acp",
          stateDirectory: home.stateDirectory,
          environment: { PATH: process.env["PATH"], HOME: home.root, XDG_CACHE_HOME: join(home.root, "cache") },
          limits
        })
      )
      const error = yield* Effect.flip(create(Context.get(context, AgentRuntime), home))
      assert.strictEqual(error.kind, "gone")
      assert.include(error.detail, "no-such-agent-anywhere")
    }).pipe(Effect.scoped)
  )
})

describe("an agent that misbehaves in a turn", () => {
  it.live.each([
    ["flood", /wrote more than 2097152 bytes in one turn/],
    ["broken", /not JSON-RPC 2.0: Oops, this is not a message/]
  ] as const)("fails the turn as gone, and ends the agent: %s", ([mode, words]) =>
    Effect.gen(function* () {
      const { home, runtime } = yield* begin(mode)
      const error = yield* Effect.flip(say(runtime, home, "work"))
      assert.strictEqual(error.kind, "gone")
      assert.match(error.detail, words)
      assert.isTrue(error.sessionUsable)
      yield* untilNothingRuns(home)
    }).pipe(Effect.scoped)
  )

  it.live("is refused files and terminals that it was not offered, and its turn goes on", () =>
    Effect.gen(function* () {
      const { home, runtime } = yield* begin("files")
      const { stopReason, text } = yield* say(runtime, home, "work")
      assert.deepStrictEqual({ stopReason, text }, { stopReason: "finished", text: "refused -32601 -32601" })
    }).pipe(Effect.scoped)
  )

  it.live("is ended when it does not stop", () =>
    Effect.gen(function* () {
      const { home, runtime } = yield* begin("stubborn")
      const turn = yield* Effect.forkChild(Effect.flip(say(runtime, home, "work")), { startImmediately: true })
      yield* waitUntil(Effect.map(runtime.inspect("only"), ({ messageCount }) => (messageCount > 0 ? true : undefined)))
      yield* runtime.abort("only")
      assert.strictEqual((yield* Fiber.join(turn)).kind, "aborted")
      yield* untilNothingRuns(home)
    }).pipe(Effect.scoped)
  )

  it.live("tells the vendor's failures in the one vocabulary", () =>
    Effect.gen(function* () {
      const { home, runtime } = yield* begin("limited")
      const error = yield* Effect.flip(say(runtime, home, "work"))
      assert.strictEqual(error.kind, "rate_limited")
      assert.isTrue(error.sessionUsable)
    }).pipe(Effect.scoped)
  )
})

describe("an agent's own questions", () => {
  const isPrompting = (event: RuntimeEvent): event is Extract<RuntimeEvent, { type: "prompting" }> =>
    event.type === "prompting"

  it.live("are asked as a form, and answered with its values", () =>
    Effect.gen(function* () {
      const { home, runtime, seen } = yield* begin("form")
      const turn = yield* Effect.forkChild(say(runtime, home, "work"), { startImmediately: true })
      const { kind, options, promptId, text } = yield* awaitEvent(seen, isPrompting)
      assert.deepStrictEqual({ kind, text }, { kind: "question", text: "Which colour?" })
      assert.deepStrictEqual(
        options.map(({ name }) => name),
        ["red", "green"]
      )
      yield* runtime.reply({ runtimeSessionId: "only", promptId, reply: { kind: "question", answers: [["green"]] } })
      const { text: said } = yield* Fiber.join(turn)
      assert.deepStrictEqual(JSON.parse(said), { action: "accept", content: { colour: "green" } })
    }).pipe(Effect.scoped)
  )

  it.live("end the turn when they are dismissed", () =>
    Effect.gen(function* () {
      const { home, runtime, seen } = yield* begin("form")
      const turn = yield* Effect.forkChild(say(runtime, home, "work"), { startImmediately: true })
      const { promptId } = yield* awaitEvent(seen, isPrompting)
      yield* runtime.reply({ runtimeSessionId: "only", promptId, reply: { kind: "question", dismiss: true } })
      assert.strictEqual((yield* Fiber.join(turn)).stopReason, "refused")
    }).pipe(Effect.scoped)
  )
})

describe("a turn whose agent ended in its middle", () => {
  const told = ({ directory }: Home) => readFileSync(join(directory, "told.txt"), "utf8").split("\u0000").slice(0, -1)
  const withoutMark = (text: string | undefined) => text?.replace(/\s*\[reprise .*$/s, "")

  it.live("sends the prompt again when the agent does not replay it", () =>
    Effect.gen(function* () {
      const { home, runtime } = yield* begin("dies-forgetting")
      const outcome = yield* say(runtime, home, "work")
      assert.strictEqual(outcome.attempts, 2)
      assert.deepStrictEqual(told(home).map(withoutMark), ["work"])
    }).pipe(Effect.scoped)
  )

  it.live("tells the agent to go on when it replays the prompt", () =>
    Effect.gen(function* () {
      const { home, runtime } = yield* begin("dies-keeping")
      const outcome = yield* say(runtime, home, "work")
      assert.strictEqual(outcome.attempts, 2)
      const [first, second, ...more] = told(home).map(withoutMark)
      assert.strictEqual(first, "work")
      assert.match(second ?? "", /^Your turn was interrupted/)
      assert.deepStrictEqual(more, [])
    }).pipe(Effect.scoped)
  )

  it.live("goes on in a session that nobody had prompted, whatever its agent has kept of it", () =>
    Effect.gen(function* () {
      const home = yield* makeHome
      const first = yield* Scope.make()
      yield* create(yield* Scope.provide(runtimeOf("forgets", home), first), home)
      yield* Scope.close(first, Exit.void)
      const runtime = yield* runtimeOf("forgets", home)
      const seen = yield* Effect.provideService(recordEvents, AgentRuntime, runtime)
      assert.deepStrictEqual((yield* runtime.inspect("only")).state, { _tag: "empty" })
      assert.strictEqual((yield* say(runtime, home, "work")).text, "heard 1")
      assert.strictEqual((yield* say(runtime, home, "more")).text, "heard 2")
      assert.deepStrictEqual([...new Set(seen.map(({ sessionId }) => sessionId))], ["only"])
    }).pipe(Effect.scoped)
  )

  it.live("is lost with an agent that cannot load sessions, which is said", () =>
    Effect.gen(function* () {
      const home = yield* makeHome
      const first = yield* Scope.make()
      const before = yield* Scope.provide(runtimeOf("forgets", home), first)
      yield* create(before, home)
      assert.strictEqual((yield* say(before, home, "work")).text, "heard 1")
      yield* Scope.close(first, Exit.void)
      const runtime = yield* runtimeOf("forgets", home)
      assert.deepStrictEqual((yield* runtime.inspect("only")).state, { _tag: "missing" })
      const error = yield* Effect.flip(say(runtime, home, "more"))
      assert.strictEqual(error.kind, "session-missing")
      assert.isFalse(error.sessionUsable)
    }).pipe(Effect.scoped)
  )
})
