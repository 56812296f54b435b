/** The port on any agent that speaks the Agent Client Protocol: one process for all its sessions with the same rights. */
import { addTokens, defined, noTokens, noUsage, type Role } from "@reprise/protocol"
import { Clock, Deferred, Effect, Layer, Option, Stream } from "effect"
import { AgentError } from "../AgentError.ts"
import { AgentRuntime } from "../AgentRuntime.ts"
import type { AgentRuntimeShape, Inspection, Prompt, SessionState } from "../AgentRuntimeShape.ts"
import { askingAboutSandbox } from "../askingAboutSandbox.ts"
import { boundedMessages } from "../boundedMessages.ts"
import { withReadableInstructions } from "../instructionFiles.ts"
import { requireTrustedSettings } from "../ProjectSettings.ts"
import {
  type AcpAdapter,
  type AcpRuntimeOptions,
  callFailed,
  callForSession,
  findSession,
  idIn,
  know,
  makeAcpAdapter,
  publish,
  reach,
  reachAny,
  requireSession,
  rest,
  save
} from "./AcpAdapter.ts"
import { endsWith } from "./conversation/Conversation.ts"
import { answerCount, historyOf, lastMessageOf } from "./conversation/history.ts"
import { aborted, busy, gone, other } from "./failures.ts"
import { startedAgain } from "./process/AgentProcess.ts"
import { isOpenCode } from "./process/command.ts"
import { agentMethods } from "./process/methods.ts"
import { type Rights, rightsOf } from "./process/rights.ts"
import { type AcpRecord, findPrompted, withPrompted, writeRecord } from "./session/AcpRecord.ts"
import { AcpSession, LiveTurn } from "./session/AcpSession.ts"
import { modelOption, optionsIn, valuesOf } from "./session/configOptions.ts"
import { load } from "./session/loadSession.ts"
import { withdrawAll } from "./turn/answerRequests.ts"
import { heldWords } from "./turn/observe.ts"
import { narrow } from "./turn/refusedWrites.ts"
import { chooseModel, runAcpTurn } from "./turn/runAcpTurn.ts"

const noId = (operation: string) => gone(operation, "The agent made a session without an id.")

/** What an agent that was killed meanwhile may have begun is never prompted. */
const openSession = (adapter: AcpAdapter, directory: string, rights: Rights) =>
  startedAgain(
    Effect.gen(function* () {
      const process = yield* reach(adapter, "create", rights)
      const params = { cwd: directory, mcpServers: [] }
      return { answer: yield* callForSession(adapter, process, agentMethods.newSession, params), process }
    }),
    adapter.restarts
  ).pipe(Effect.mapError((error) => (error instanceof AgentError ? error : callFailed(adapter, "create")(error))))

const create = (adapter: AcpAdapter): AgentRuntimeShape["create"] =>
  Effect.fn("AgentRuntime.create")(function* ({ directory, model, permissions, role, title }) {
    yield* requireTrustedSettings(adapter.projectSettings, "create", directory)
    const rights = rightsOf(adapter.sandbox, { directory, permissions, role })
    const { answer, process } = yield* openSession(adapter, directory, rights)
    const id = idIn(answer)
    if (id === undefined) return yield* noId("create")
    const chosen = model === undefined ? {} : { model }
    const known = role === undefined ? {} : { role }
    const createdAtMs = yield* Clock.currentTimeMillis
    const about = { directory, title, createdAtMs, permissions, ...known, ...chosen }
    const record: AcpRecord = { version: 1, id, prompts: [], ...about }
    yield* writeRecord(adapter.folder, record)
    const session = new AcpSession(record)
    session.loadedIn = process
    session.configOptions = optionsIn(answer)
    know(adapter, session)
    yield* chooseModel(adapter, session, process, chosen)
    return id
  })

/** Starts a turn that continues when its caller is interrupted. */
const startTurn = (adapter: AcpAdapter, session: AcpSession, prompt: Prompt): LiveTurn => {
  const live = new LiveTurn(prompt.promptId.messageId)
  session.live = live
  const at = { sessionId: session.record.id, causePromptId: live.messageId }
  const tell = publish(adapter)
  const turn = runAcpTurn(adapter, session, live, prompt).pipe(
    Effect.tapError(({ detail: message, kind, retryAfterMs }) => {
      const later = retryAfterMs === undefined ? {} : { retryAfterMs }
      return live.announced && kind !== "aborted"
        ? tell({ type: "failed", ...at, kind, message, recovering: false, ...later })
        : Effect.void
    }),
    Effect.onExit((exit) =>
      Effect.gen(function* () {
        yield* withdrawAll(live)
        narrow(adapter, session, live)
        yield* rest(adapter, session)
        session.live = undefined
        yield* Effect.forEach(heldWords(live, at), tell, { discard: true })
        if (live.announced) yield* tell({ type: "idle", ...at })
        yield* Deferred.done(live.end, exit)
      })
    ),
    Effect.ignore
  )
  adapter.runDetached(turn)
  return live
}

/** The rights of its agent follow, as soon as the session is loaded. */
const asRole = (adapter: AcpAdapter, session: AcpSession, role: Role) =>
  session.record.role === role ? Effect.void : save(adapter, session, { ...session.record, role })

const prompt = (adapter: AcpAdapter): AgentRuntimeShape["prompt"] =>
  Effect.fn("AgentRuntime.prompt")(function* (it) {
    const session = yield* requireSession(adapter, "prompt", it.runtimeSessionId)
    const { messageId } = it.promptId
    const before = findPrompted(session.record, messageId)
    if (session.live === undefined) {
      if (before?.aborted === true) return yield* aborted
      if (before?.outcome !== undefined) return before.outcome
      yield* requireTrustedSettings(adapter.projectSettings, "prompt", session.record.directory)
      yield* asRole(adapter, session, it.role ?? "reviewer")
    }
    // Between here and the start of the turn nobody else may start one.
    if (session.live !== undefined && session.live.messageId !== messageId) return yield* busy(it.runtimeSessionId)
    const live = session.live ?? startTurn(adapter, session, it)
    return yield* Deferred.await(live.end)
  })

const abort = (adapter: AcpAdapter): AgentRuntimeShape["abort"] =>
  Effect.fn("AgentRuntime.abort")(function* (id) {
    const found = yield* findSession(adapter, id)
    if (Option.isNone(found)) return
    const session = found.value
    const { live } = session
    if (live === undefined) {
      // The newest turn may have been cut off by a crash and not yet taken up again.
      const last = session.record.prompts.at(-1)
      if (last !== undefined && last.outcome === undefined && last.aborted !== true) {
        yield* save(adapter, session, withPrompted(session.record, last.messageId, { aborted: true }))
      }
      return
    }
    live.aborted = true
    yield* Deferred.succeed(live.stopped, undefined)
    yield* withdrawAll(live)
    const process = session.loadedIn
    if (process !== undefined) yield* process.notify(agentMethods.cancel, { sessionId: session.agentId })
    const ended = Effect.exit(Deferred.await(live.end))
    yield* Effect.timeoutOrElse(ended, {
      duration: `${adapter.limits.stopTimeoutMs} millis`,
      orElse: () =>
        Effect.andThen(
          Effect.sync(() => process?.kill()),
          ended
        )
    })
  })

const missingSession: Inspection = { state: { _tag: "missing" }, messageCount: 0, usage: noUsage }

/** An agent may forget a prompt whose turn was aborted: its session was prompted all the same. */
const stateOf = ({ conversation, live, record }: AcpSession): SessionState => {
  const [waiting] = live?.waiting.values() ?? []
  if (waiting !== undefined) return { _tag: "prompting", prompt: waiting.prompt }
  if (live !== undefined) return { _tag: "busy" }
  const prompted = conversation.entries.length > 0 || record.prompts.some(({ sent }) => sent > 0)
  return { _tag: prompted ? "idle" : "empty" }
}

const inspect = (adapter: AcpAdapter): AgentRuntimeShape["inspect"] =>
  Effect.fn("AgentRuntime.inspect")(function* (id) {
    const found = yield* findSession(adapter, id)
    if (Option.isNone(found)) return missingSession
    const session = found.value
    if (session.live === undefined) {
      const loaded = yield* load(adapter, session, "inspect").pipe(
        Effect.as(true),
        Effect.catchIf(
          ({ kind }) => kind === "session-missing",
          () => Effect.succeed(false)
        )
      )
      if (!loaded) return missingSession
    }
    const { entries } = session.conversation
    const outcomes = session.record.prompts.flatMap(({ outcome }) => (outcome === undefined ? [] : [outcome]))
    const model = outcomes.at(-1)?.model
    const isFinished = (messageId: string) => findPrompted(session.record, messageId)?.outcome !== undefined
    return {
      state: stateOf(session),
      messageCount: historyOf(entries).length,
      usage: {
        tokens: outcomes.map(({ tokens }) => tokens).reduce(addTokens, noTokens),
        cost: outcomes.reduce((sum, { cost }) => sum + cost, 0),
        calls: answerCount(entries)
      },
      ...defined({ model }),
      ...lastMessageOf(entries, isFinished, session.updatedAtMs)
    }
  })

const reply = (adapter: AcpAdapter): AgentRuntimeShape["reply"] =>
  Effect.fn("AgentRuntime.reply")(function* (it) {
    const session = yield* requireSession(adapter, "reply", it.runtimeSessionId)
    const waiting = session.live?.waiting.get(it.promptId)
    if (waiting === undefined) return "gone"
    return (yield* Deferred.succeed(waiting.answer, it.reply)) ? "delivered" : "gone"
  })

const pendingPrompts = ({ sessions }: AcpAdapter): AgentRuntimeShape["pendingPrompts"] =>
  Effect.fn("AgentRuntime.pendingPrompts")((directory) =>
    Effect.sync(() =>
      [...new Set(sessions.values())].flatMap(({ live, record }) =>
        record.directory === directory ? [...(live?.waiting.values() ?? [])].map((it) => it.prompt) : []
      )
    )
  )

const history = (adapter: AcpAdapter): AgentRuntimeShape["history"] =>
  Effect.fn("AgentRuntime.history")(function* (id) {
    const session = yield* requireSession(adapter, "history", id)
    if (session.live === undefined) yield* load(adapter, session, "history")
    return boundedMessages(historyOf(session.conversation.entries))
  })

/** It is not part of the stable protocol, so its types do not have it. */
const canFork = (capabilities: object | null | undefined): boolean =>
  capabilities != null && "fork" in capabilities && typeof capabilities.fork === "object" && capabilities.fork !== null

/**
 * The protocol copies whole conversations only. An agent that is told another directory may still work in the old one, as
 * OpenCode does (measured), so it is not asked to.
 */
const fork = (adapter: AcpAdapter): AgentRuntimeShape["fork"] =>
  Effect.fn("AgentRuntime.fork")(function* ({ directory, permissions, role, runtimeSessionId: id, through, title }) {
    yield* requireTrustedSettings(adapter.projectSettings, "fork", directory)
    const session = yield* requireSession(adapter, "fork", id)
    const process = yield* load(adapter, session, "fork")
    if (!canFork(process.initialized.agentCapabilities?.sessionCapabilities)) {
      return yield* other("fork", `The agent '${adapter.command.program}' cannot fork sessions.`)
    }
    if (through !== undefined && !endsWith(session.conversation.entries, through)) {
      return yield* other("fork", `The agent '${adapter.command.program}' can fork session ${id} only as it is now.`)
    }
    const { record } = session
    if (directory !== record.directory) {
      return yield* other("fork", `The agent '${adapter.command.program}' can fork session ${id} only where it works.`)
    }
    const answer = yield* callForSession(adapter, process, agentMethods.forkSession, {
      sessionId: session.agentId,
      cwd: directory,
      mcpServers: []
    }).pipe(Effect.mapError(callFailed(adapter, "fork")))
    const forked = idIn(answer)
    if (forked === undefined) return yield* noId("fork")
    const known = role === undefined ? {} : { role }
    const createdAtMs = yield* Clock.currentTimeMillis
    yield* writeRecord(adapter.folder, { ...record, id: forked, directory, permissions, title, createdAtMs, ...known })
    return forked
  })

/** The protocol has no command that opens an agent's own interface. */
const attachCommand = (adapter: AcpAdapter): AgentRuntimeShape["attachCommand"] =>
  Effect.fn("AgentRuntime.attachCommand")(function* (id) {
    const { record } = yield* requireSession(adapter, "attachCommand", id)
    const { command } = adapter
    if (!isOpenCode(command)) {
      return yield* other(
        "attachCommand",
        `Reprise does not know how '${command.program}' opens a session in its own interface. 'reprise sessions transcript ${id}' shows the conversation.`
      )
    }
    return { argv: [command.program, record.directory, "--session", id], env: {} }
  })

const models = (adapter: AcpAdapter): AgentRuntimeShape["models"] =>
  Effect.fn("AgentRuntime.models")(function* (directory) {
    yield* requireTrustedSettings(adapter.projectSettings, "models", directory)
    const rights = rightsOf(adapter.sandbox, { directory, permissions: "ask" })
    const process = yield* reach(adapter, "models", rights)
    // Models are told about a session only.
    const answer = yield* callForSession(adapter, process, agentMethods.newSession, {
      cwd: directory,
      mcpServers: []
    }).pipe(Effect.mapError(callFailed(adapter, "models")))
    const option = modelOption(optionsIn(answer))
    return option === undefined ? [] : valuesOf(option)
  })

const check = (adapter: AcpAdapter): AgentRuntimeShape["check"] =>
  Effect.map(reachAny(adapter, "check"), ({ initialized: { agentInfo } }) => ({
    name: adapter.name,
    version: agentInfo?.version ?? "unknown",
    running: true,
    location: adapter.command.program
  }))

const makeAcpRuntime = Effect.fn("Acp.runtime")(function* (options: AcpRuntimeOptions) {
  const adapter = yield* makeAcpAdapter(options)
  const runtime: AgentRuntimeShape = {
    name: adapter.name,
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
  }
  return yield* askingAboutSandbox(withReadableInstructions(runtime), adapter.sandbox, adapter.rules)
})

/**
 * A runtime that hosts sessions in an agent that speaks the Agent Client Protocol. The layer itself never fails: the agent
 * is started with the first session. Closing the scope ends the agent and all it started; a turn that was cut off continues
 * when the same prompt is sent again.
 *
 * @example layerAcp({ command: "opencode acp", stateDirectory: join(root, ".reprise") })
 */
export const layerAcp = (options: AcpRuntimeOptions) => Layer.effect(AgentRuntime, makeAcpRuntime(options))
