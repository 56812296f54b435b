/** The port on Claude: the agent SDK, one process for each prompt, and the transcripts that Claude keeps. */
import { randomUUID } from "node:crypto"
import { defined, noUsage } from "@reprise/protocol"
import { Clock, Deferred, Effect, Layer, Option, Schedule, Stream } from "effect"
import { AgentRuntime } from "../AgentRuntime.ts"
import type { AgentRuntimeShape, Inspection, Prompt, SessionState } from "../AgentRuntimeShape.ts"
import { askingAboutSandbox } from "../askingAboutSandbox.ts"
import { boundedMessages } from "../boundedMessages.ts"
import { withReadableInstructions } from "../instructionFiles.ts"
import {
  type ClaudeAdapter,
  type ClaudeRuntimeOptions,
  findSession,
  isLost,
  makeClaudeAdapter,
  publish,
  type ReadyClaude,
  readyFor,
  requireSession
} from "./ClaudeAdapter.ts"
import { busy, fault, gone, unsafe } from "./failures.ts"
import { ClaudeStateFault, locateClaude } from "./sdk/ClaudeSdk.ts"
import { listModels } from "./sdk/query.ts"
import { foreignEvents, isForeignBusy } from "./session/foreignActivity.ts"
import type { KnownSession } from "./session/KnownSessions.ts"
import { LiveTurn } from "./session/LiveTurn.ts"
import { changePrompted, nameOf } from "./session/SessionRecord.ts"
import { historyOf } from "./transcript/history.ts"
import { lastMessageOf, messageCountOf, modelOfLast, ownedBy, turnOf } from "./transcript/turnOf.ts"
import { isUnsafeRoot } from "./turn/claudePermissions.ts"
import { runClaudeTurn } from "./turn/runClaudeTurn.ts"
import type { Guarded } from "./turn/runQuery.ts"

const create = (adapter: ClaudeAdapter): AgentRuntimeShape["create"] =>
  Effect.fn("AgentRuntime.create")(function* ({ directory, model, permissions, title }) {
    yield* readyFor(adapter, "create")
    if (isUnsafeRoot(permissions, adapter.userEnvironment)) return yield* unsafe("create")
    const id = randomUUID()
    const chosen = model === undefined ? {} : { model }
    const record = { version: 1, id, directory, title, permissions, begun: false, prompts: [] } as const
    yield* Effect.mapError(adapter.sessions.save({ ...record, ...chosen }), fault("create"))
    return id
  })

/** Starts a turn that continues when its caller is interrupted. */
const startTurn = (
  adapter: ClaudeAdapter,
  known: KnownSession,
  prompt: Prompt,
  claude: ReadyClaude & { readonly guarded?: Guarded }
): LiveTurn => {
  const live = new LiveTurn(prompt.promptId.messageId)
  known.live = live
  const at = { sessionId: known.record.id, causePromptId: live.messageId }
  const { maxTurns, patienceMs, projectSettings, restarts, rules, sessions } = adapter
  const stateDirectory = adapter.settledIn ?? adapter.stateDirectory
  const tell = publish(adapter)
  const { protectedPaths } = adapter.sandbox
  const options = {
    sessions,
    stateDirectory,
    tell,
    patienceMs,
    maxTurns,
    projectSettings,
    protectedPaths,
    restarts,
    rules
  }
  const turn = runClaudeTurn({ ...claude, ...options }, known, live, prompt).pipe(
    Effect.tapError(({ detail: message, kind, retryAfterMs }) => {
      const later = retryAfterMs === undefined ? {} : { retryAfterMs }
      return live.announced && kind !== "aborted"
        ? tell({ type: "failed", ...at, kind, message, recovering: false, ...later })
        : Effect.void
    }),
    Effect.onExit((exit) =>
      Effect.gen(function* () {
        yield* Effect.ignore(sessions.refresh(known))
        if (claude.guarded !== undefined) yield* Effect.ignore(adapter.sandbox.tidy(known.record.directory))
        known.markReported()
        known.live = undefined
        if (live.announced) yield* tell({ type: "idle", ...at })
        yield* Deferred.done(live.end, exit)
      })
    ),
    Effect.ignore
  )
  adapter.runDetached(turn)
  return live
}

const prompt = (adapter: ClaudeAdapter): AgentRuntimeShape["prompt"] =>
  Effect.fn("AgentRuntime.prompt")(function* (it) {
    const id = it.runtimeSessionId
    const known = yield* requireSession(adapter, "prompt", id)
    const claude = yield* readyFor(adapter, "prompt")
    if (isUnsafeRoot(known.record.permissions, adapter.userEnvironment)) return yield* unsafe("prompt")
    if (known.live === undefined && (yield* isForeignBusy(adapter.sessions, known))) return yield* busy(id)
    if (known.live !== undefined && known.live.messageId !== it.promptId.messageId) return yield* busy(id)
    const { directory, permissions } = known.record
    const role = it.role ?? "reviewer"
    const { covers, programsFor } = adapter.sandbox
    const guarded = covers(permissions)
      ? yield* Effect.mapError(programsFor(directory, role), fault("prompt"))
      : undefined
    const live = known.live ?? startTurn(adapter, known, it, { ...claude, ...defined({ guarded }) })
    return yield* Deferred.await(live.end)
  })

/** Records that the turn must not be continued, if its prompt was ever sent. */
const markAborted = ({ sessions }: ClaudeAdapter, known: KnownSession, messageId: string) =>
  Effect.mapError(sessions.update(known, changePrompted(messageId, { aborted: true })), fault("abort"))

const abort = (adapter: ClaudeAdapter): AgentRuntimeShape["abort"] =>
  Effect.fn("AgentRuntime.abort")(function* (id) {
    const found = yield* findSession(adapter, "abort", id)
    if (Option.isNone(found)) return
    const known = found.value
    const { live } = known
    if (live === undefined) {
      // The newest turn may have been cut off by a crash and not yet taken up again.
      const last = known.record.prompts.at(-1)
      const turn = turnOf(known.entries, last?.uuids ?? [])._tag
      if (last !== undefined && (turn === "open" || turn === "unfinished")) {
        yield* markAborted(adapter, known, last.messageId)
      }
      return
    }
    live.aborted = true
    yield* markAborted(adapter, known, live.messageId)
    const ended = Effect.exit(Deferred.await(live.end))
    yield* Effect.promise(() => live.process?.interrupt().catch(() => undefined) ?? Promise.resolve()).pipe(
      Effect.andThen(ended),
      Effect.timeoutOrElse({
        duration: "3 seconds",
        orElse: () =>
          Effect.andThen(
            Effect.sync(() => live.process?.kill()),
            ended
          )
      })
    )
  })

const missingSession: Inspection = { state: { _tag: "missing" }, messageCount: 0, usage: noUsage }

const stateOf = (known: KnownSession, foreignBusy: boolean, nowMs: number): SessionState => {
  const { live } = known
  const [waiting] = live?.waiting.values() ?? []
  if (waiting !== undefined) return { _tag: "prompting", prompt: waiting.prompt }
  if (live?.retrying !== undefined) {
    const { attempt, kind, message, untilMs } = live.retrying
    return { _tag: "retrying", attempt, kind, message, retryAfterMs: Math.max(0, untilMs - nowMs) }
  }
  if (live !== undefined || foreignBusy) return { _tag: "busy" }
  return { _tag: known.entries.some(({ kind }) => kind === "prompt") ? "idle" : "empty" }
}

const inspect = (adapter: ClaudeAdapter): AgentRuntimeShape["inspect"] =>
  Effect.fn("AgentRuntime.inspect")(function* (id) {
    const found = yield* findSession(adapter, "inspect", id)
    if (Option.isNone(found) || isLost(found.value)) return missingSession
    const known = found.value
    const foreignBusy = known.live === undefined && (yield* isForeignBusy(adapter.sessions, known))
    const prompts = known.entries.flatMap((entry) => (entry.kind === "prompt" ? [entry.uuid] : []))
    return {
      state: stateOf(known, foreignBusy, yield* Clock.currentTimeMillis),
      messageCount: messageCountOf(known.entries),
      usage: { ...(yield* adapter.sessions.usage(known)), cost: ownedBy(known.entries, new Set(prompts)).cost },
      ...modelOfLast(known.entries),
      ...lastMessageOf(known.entries, nameOf(known.record))
    }
  })

const reply = (adapter: ClaudeAdapter): AgentRuntimeShape["reply"] =>
  Effect.fn("AgentRuntime.reply")(function* (it) {
    const known = yield* requireSession(adapter, "reply", it.runtimeSessionId)
    const waiting = known.live?.waiting.get(it.promptId)
    if (waiting === undefined) return "gone"
    return (yield* Deferred.succeed(waiting.answer, it.reply)) ? "delivered" : "gone"
  })

const pendingPrompts = ({ sessions }: ClaudeAdapter): AgentRuntimeShape["pendingPrompts"] =>
  Effect.fn("AgentRuntime.pendingPrompts")((directory) =>
    Effect.sync(() =>
      [...sessions.all].flatMap(({ live, record }) =>
        record.directory === directory ? [...(live?.waiting.values() ?? [])].map((it) => it.prompt) : []
      )
    )
  )

const history = (adapter: ClaudeAdapter): AgentRuntimeShape["history"] =>
  Effect.fn("AgentRuntime.history")(function* (id) {
    const { record, transcript } = yield* requireSession(adapter, "history", id)
    if (transcript === undefined) return []
    const text = yield* Effect.tryPromise({
      try: () => transcript.text(),
      catch: (cause) => fault("history")(new ClaudeStateFault({ operation: "Reading a transcript", cause }))
    })
    return boundedMessages(historyOf(text, nameOf(record)))
  })

const fork = (adapter: ClaudeAdapter): AgentRuntimeShape["fork"] =>
  Effect.fn("AgentRuntime.fork")(function* ({ directory, permissions, runtimeSessionId, through, title }) {
    const known = yield* requireSession(adapter, "fork", runtimeSessionId)
    if (isUnsafeRoot(permissions, adapter.userEnvironment)) return yield* unsafe("fork")
    const id = randomUUID()
    const copy = { id, directory, title, permissions, ...defined({ through }) }
    yield* Effect.mapError(adapter.sessions.fork(known, copy), fault("fork"))
    return id
  })

/** Claude looks for a session in the directory that it is started in, hence the shell with `cd`. */
const attachCommand = (adapter: ClaudeAdapter): AgentRuntimeShape["attachCommand"] =>
  Effect.fn("AgentRuntime.attachCommand")(function* (id) {
    const { entries, record } = yield* requireSession(adapter, "attachCommand", id)
    const { program } = yield* Effect.mapError(locateClaude(adapter.userEnvironment), gone("attachCommand"))
    const configured = adapter.userEnvironment["CLAUDE_CONFIG_DIR"]
    const option = entries.some(({ kind }) => kind === "prompt") ? "--resume" : "--session-id"
    return {
      argv: ["/bin/sh", "-c", 'cd -- "$1" && exec "$2" "$3" "$4"', "claude", record.directory, program, option, id],
      env: configured === undefined ? {} : { CLAUDE_CONFIG_DIR: configured }
    }
  })

const models = (adapter: ClaudeAdapter): AgentRuntimeShape["models"] =>
  Effect.fn("AgentRuntime.models")(function* (directory) {
    const { environment, sdk } = yield* readyFor(adapter, "models")
    return yield* Effect.mapError(listModels(sdk, directory, environment), fault("models"))
  })

const check = ({ userEnvironment }: ClaudeAdapter): AgentRuntimeShape["check"] =>
  locateClaude(userEnvironment).pipe(
    Effect.mapError(gone("check")),
    Effect.map(({ program, version }) => ({ name: "claude" as const, version, running: true, location: program }))
  )

/** Publishes what others do in the known sessions. */
const watchOthers = (adapter: ClaudeAdapter) =>
  Effect.gen(function* () {
    for (const known of adapter.sessions.all) {
      yield* Effect.forEach(yield* foreignEvents(adapter.sessions, known), publish(adapter), { discard: true })
    }
  }).pipe(Effect.repeat(Schedule.spaced(`${adapter.pollMs} millis`)))

const makeClaudeRuntime = Effect.fn("Claude.runtime")(function* (options: ClaudeRuntimeOptions) {
  const adapter = yield* makeClaudeAdapter(options)
  yield* Effect.forkScoped(watchOthers(adapter))
  const runtime = AgentRuntime.of({
    name: "claude",
    create: create(adapter),
    prompt: prompt(adapter),
    abort: abort(adapter),
    inspect: inspect(adapter),
    events: Stream.fromPubSub(adapter.hub),
    reply: reply(adapter),
    pendingPrompts: pendingPrompts(adapter),
    history: history(adapter),
    fork: fork(adapter),
    attachCommand: attachCommand(adapter),
    models: models(adapter),
    check: check(adapter)
  })
  return yield* askingAboutSandbox(withReadableInstructions(runtime), adapter.sandbox, adapter.rules)
})

/**
 * A runtime that hosts sessions in Claude, through the optional package `@anthropic-ai/claude-agent-sdk`. The layer
 * itself never fails: the SDK is loaded with the first session, and a host without it fails that call with the
 * command that installs it. Closing the scope ends every process of Claude; a turn that was cut off continues when
 * the same prompt is sent again.
 *
 * @example layerClaude({ stateDirectory: join(root, ".reprise") })
 */
export const layerClaude = (options: ClaudeRuntimeOptions) => Layer.effect(AgentRuntime, makeClaudeRuntime(options))
