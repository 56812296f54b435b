/** The port on OpenCode. */
import { isDeepStrictEqual } from "node:util"
import type { Session, SessionStatus } from "@opencode-ai/sdk/v2/client"
import { defined, noUsage, type PermissionMode } from "@reprise/protocol"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { AgentError } from "../AgentError.ts"
import { AgentRuntime } from "../AgentRuntime.ts"
import type {
  AgentRuntimeShape,
  ForkSession,
  Inspection,
  LastMessage,
  Prompt,
  SessionState
} from "../AgentRuntimeShape.ts"
import { askingAboutSandbox } from "../askingAboutSandbox.ts"
import { boundedMessages } from "../boundedMessages.ts"
import { withReadableInstructions } from "../instructionFiles.ts"
import type { PendingPrompt } from "../RuntimeEvent.ts"
import { heldBack } from "../rules/PermissionRules.ts"
import { kindOfRetry } from "./events/ActivityTracker.ts"
import {
  fault,
  findSession,
  makeOpenCodeAdapter,
  type OpenCodeAdapter,
  type OpenCodeRuntimeOptions,
  remember,
  requirePermitted,
  requireSession,
  unavailable
} from "./OpenCodeAdapter.ts"
import { neutralFolder } from "./server/locateOpenCode.ts"
import { tellInstructions } from "./server/toldInstructions.ts"
import { modeMetadata, permissionRules } from "./session/permissionRules.ts"
import { shortenParts } from "./session/shortenParts.ts"
import { historyOf } from "./turn/history.ts"
import { runOpenCodeTurn } from "./turn/runOpenCodeTurn.ts"
import { causeOf, firstAfterTurn, type Listed, modelOf, modelOfLast } from "./turn/turnOf.ts"
import { usageOf } from "./turn/usageOf.ts"

const listMessages = ({ calls }: OpenCodeAdapter, operation: string, session: Session) =>
  calls
    .reaching(operation, (client, signal) =>
      client.session.messages({ sessionID: session.id, directory: session.directory }, { signal })
    )
    .pipe(
      Effect.flatMap((messages) => shortenParts(calls, session, messages)),
      Effect.mapError(fault(operation))
    )

/** What OpenCode must ask Reprise about, in a session of this mode. */
const rulesFor = ({ rules, server }: OpenCodeAdapter, mode: PermissionMode) =>
  Effect.map(rules.rules, (all) => permissionRules(mode, server.sandbox?.covers(mode) === true, heldBack(all)))

const create = (adapter: OpenCodeAdapter): AgentRuntimeShape["create"] =>
  Effect.fn("AgentRuntime.create")(function* (session) {
    yield* requirePermitted(adapter, "create", session.directory)
    const model = modelOf(session.model)
    const permission = yield* rulesFor(adapter, session.permissions)
    const created = yield* adapter.calls
      .reaching("create", (client, signal) =>
        client.session.create(
          {
            directory: session.directory,
            title: session.title,
            permission,
            metadata: modeMetadata(session.permissions),
            ...(model === undefined ? {} : { model: { providerID: model.providerID, id: model.modelID } })
          },
          { signal }
        )
      )
      .pipe(Effect.mapError(fault("create")))
    return (yield* remember(adapter, created)).id
  })

/** While the turn is watched, its commands run in the sandbox as its role and its session's permissions say. */
const occupy = (
  { server: { sandbox } }: OpenCodeAdapter,
  directory: string,
  permissions: PermissionMode,
  { role }: Prompt
) =>
  sandbox === undefined
    ? Effect.void
    : Effect.mapError(sandbox.occupy({ directory, permissions, ...defined({ role }) }), fault("prompt"))

const tellOf = ({ server: { tellsIn } }: OpenCodeAdapter, directory: string, { instructionsFrom }: Prompt) =>
  tellsIn === undefined
    ? Effect.void
    : Effect.mapError(tellInstructions(tellsIn, directory, instructionsFrom), fault("prompt"))

/** A session may be older than the rules. OpenCode adds rules to those that it has, and the last one counts (measured). */
const renewRules = Effect.fnUntraced(function* (adapter: OpenCodeAdapter, session: Session, mode: PermissionMode) {
  const { directory, id, permission = [] } = session
  const wanted = yield* rulesFor(adapter, mode)
  if (isDeepStrictEqual(permission.slice(-wanted.length), wanted)) return
  yield* adapter.calls
    .reaching("prompt", (client, signal) =>
      client.session.update({ sessionID: id, directory, permission: wanted }, { signal })
    )
    .pipe(Effect.mapError(fault("prompt")))
})

const prompt = (adapter: OpenCodeAdapter): AgentRuntimeShape["prompt"] =>
  Effect.fn("AgentRuntime.prompt")(function* (it) {
    const session = yield* requireSession(adapter, "prompt", it.runtimeSessionId)
    const own = adapter.facts.remember(session).mode
    const mode = Option.getOrElse(own, () => "ask" as const)
    if (Option.isSome(own)) yield* renewRules(adapter, session, mode)
    yield* occupy(adapter, session.directory, mode, it)
    yield* tellOf(adapter, session.directory, it)
    return yield* runOpenCodeTurn(adapter, session, it)
  }, Effect.scoped)

/** Rejects the open requests of an aborted turn: OpenCode keeps them (measured), and a human would be asked in vain. */
const rejectRequests = Effect.fnUntraced(function* ({ calls, feed }: OpenCodeAdapter, { directory, id }: Session) {
  yield* Effect.ignore(feed.pendingIn(directory))
  for (const { kind, promptId } of feed.pendingOf(id)) {
    yield* calls
      .once("rejecting a request", (client, signal) =>
        kind === "permission"
          ? client.permission.reply({ requestID: promptId, directory, reply: "reject" }, { signal })
          : client.question.reject({ requestID: promptId, directory }, { signal })
      )
      .pipe(Effect.ignore)
  }
})

const abort = (adapter: OpenCodeAdapter): AgentRuntimeShape["abort"] =>
  Effect.fn("AgentRuntime.abort")(function* (id) {
    const session = yield* findSession(adapter, "abort", id)
    if (Option.isNone(session)) return
    const { directory } = session.value
    yield* adapter.calls
      .reaching("abort", (client, signal) => client.session.abort({ sessionID: id, directory }, { signal }))
      .pipe(Effect.mapError(fault("abort")))
    yield* rejectRequests(adapter, session.value)
  })

const missingSession: Inspection = { state: { _tag: "missing" }, messageCount: 0, usage: noUsage }

const lastOf = (messages: ReadonlyArray<Listed>): LastMessage | undefined => {
  const info = messages.at(-1)?.info
  if (info === undefined) return undefined
  if (info.role === "user") {
    return { id: causeOf(messages, info.id) ?? info.id, role: "user", finished: true, atMs: info.time.created }
  }
  return {
    id: info.id,
    role: "assistant",
    causePromptId: causeOf(messages, info.parentID) ?? info.parentID,
    finished: info.time.completed !== undefined && info.finish !== undefined && info.finish !== "tool-calls",
    atMs: info.time.completed ?? info.time.created
  }
}

const stateOf = (
  status: SessionStatus | undefined,
  waiting: PendingPrompt | undefined,
  messageCount: number,
  nowMs: number
): SessionState => {
  if (waiting !== undefined) return { _tag: "prompting", prompt: waiting }
  if (status?.type === "retry") {
    const { attempt, message, next } = status
    return { _tag: "retrying", attempt, kind: kindOfRetry(message), message, retryAfterMs: Math.max(0, next - nowMs) }
  }
  if (status?.type === "busy") return { _tag: "busy" }
  return { _tag: messageCount === 0 ? "empty" : "idle" }
}

const inspect = (adapter: OpenCodeAdapter): AgentRuntimeShape["inspect"] =>
  Effect.fn("AgentRuntime.inspect")(function* (id) {
    const found = yield* findSession(adapter, "inspect", id)
    if (Option.isNone(found)) return missingSession
    const session = found.value
    const { directory } = session
    const status = yield* adapter.calls
      .reaching("inspect", (client, signal) => client.session.status({ directory }, { signal }))
      .pipe(Effect.mapError(fault("inspect")))
    const messages = yield* listMessages(adapter, "inspect", session)
    // A session that waits for an answer is busy; an idle one cannot have open requests.
    const prompts =
      status[id] === undefined ? [] : yield* Effect.orElseSucceed(adapter.feed.pendingIn(directory), () => [])
    const waiting = prompts.find(({ sessionId }) => sessionId === id)
    const lastMessage = lastOf(messages)
    const model = modelOfLast(messages)
    return {
      state: stateOf(status[id], waiting, messages.length, yield* Clock.currentTimeMillis),
      messageCount: messages.length,
      usage: yield* usageOf(adapter.calls, adapter.subagentCalls, session, messages),
      ...defined({ model, lastMessage })
    }
  })

const reply = (adapter: OpenCodeAdapter): AgentRuntimeShape["reply"] =>
  Effect.fn("AgentRuntime.reply")(function* ({ promptId: requestID, reply: answer, runtimeSessionId }) {
    const { directory } = yield* requireSession(adapter, "reply", runtimeSessionId)
    if (answer.kind === "permission" && answer.reply === "always") {
      yield* adapter.rules.remember(adapter.feed.rulesOf(requestID))
    }
    return yield* adapter.calls
      .reaching("reply", (client, signal) => {
        if (answer.kind === "permission") {
          const { message } = answer
          const words = message === undefined ? {} : { message }
          // OpenCode's own "always" would allow more than was shown, and be forgotten with its process.
          const reply = answer.reply === "reject" ? "reject" : "once"
          return client.permission.reply({ requestID, directory, reply, ...words }, { signal })
        }
        if ("dismiss" in answer) return client.question.reject({ requestID, directory }, { signal })
        const answers = answer.answers.map((labels) => [...labels])
        return client.question.reply({ requestID, directory, answers }, { signal })
      })
      .pipe(
        Effect.as("delivered" as const),
        Effect.catchIf(
          (error) => error._tag === "Refused" && error.status === 404,
          () => Effect.succeed("gone" as const)
        ),
        Effect.mapError(fault("reply"))
      )
  })

const pendingPrompts = (adapter: OpenCodeAdapter): AgentRuntimeShape["pendingPrompts"] =>
  Effect.fn("AgentRuntime.pendingPrompts")(function* (directory) {
    yield* requirePermitted(adapter, "pendingPrompts", directory)
    // This call waits while the server is away, so the lists come from a server that is back.
    yield* adapter.calls
      .reaching("pendingPrompts", (client, signal) => client.session.status({ directory }, { signal }))
      .pipe(Effect.mapError(fault("pendingPrompts")))
    return yield* Effect.mapError(adapter.feed.pendingIn(directory), fault("pendingPrompts"))
  })

const history = (adapter: OpenCodeAdapter): AgentRuntimeShape["history"] =>
  Effect.fn("AgentRuntime.history")(function* (id) {
    const session = yield* requireSession(adapter, "history", id)
    return boundedMessages(historyOf(yield* listMessages(adapter, "history", session)))
  })

/** The message before which OpenCode stops to copy; undefined: it copies all. */
const endOfCopy = Effect.fnUntraced(function* (
  adapter: OpenCodeAdapter,
  original: Session,
  { runtimeSessionId, through }: ForkSession
) {
  if (through === undefined) return undefined
  const messages = yield* listMessages(adapter, "fork", original)
  if (messages.some(({ info }) => info.id === through)) return firstAfterTurn(messages, through)
  const detail = `Session ${runtimeSessionId} of OpenCode has no prompt ${through}. Fork it at another turn.`
  return yield* new AgentError({ kind: "other", operation: "fork", detail, sessionUsable: true })
})

/** OpenCode forks a session in its own directory, whatever directory is asked for (measured). */
const moveTo = ({ calls }: OpenCodeAdapter, sessionID: string, directory: string) =>
  calls
    .reaching("fork", (client, signal) =>
      client.experimental.controlPlane.moveSession({ sessionID, destination: { directory } }, { signal })
    )
    .pipe(Effect.mapError(fault("fork")))

/** OpenCode copies only the messages of a session (measured), so permission rules are set as for a new one. */
const fork = (adapter: OpenCodeAdapter): AgentRuntimeShape["fork"] =>
  Effect.fn("AgentRuntime.fork")(function* (it) {
    yield* requirePermitted(adapter, "fork", it.directory)
    const original = yield* requireSession(adapter, "fork", it.runtimeSessionId)
    const { directory, id: sessionID } = original
    const messageID = yield* endOfCopy(adapter, original, it)
    const before = messageID === undefined ? {} : { messageID }
    const { id } = yield* adapter.calls
      .reaching("fork", (client, signal) => client.session.fork({ sessionID, directory, ...before }, { signal }))
      .pipe(Effect.mapError(fault("fork")))
    if (it.directory !== directory) yield* moveTo(adapter, id, it.directory)
    const permission = yield* rulesFor(adapter, it.permissions)
    const { title } = it
    const metadata = modeMetadata(it.permissions)
    const updated = yield* adapter.calls
      .reaching("fork", (client, signal) =>
        client.session.update({ sessionID: id, directory: it.directory, title, permission, metadata }, { signal })
      )
      .pipe(Effect.mapError(fault("fork")))
    return (yield* remember(adapter, updated)).id
  })

/** The interface imports what it is told where it is started, hence the shell with `cd`. */
const attachCommand = (adapter: OpenCodeAdapter): AgentRuntimeShape["attachCommand"] =>
  Effect.fn("AgentRuntime.attachCommand")(function* (id) {
    const { directory } = yield* requireSession(adapter, "attachCommand", id)
    const { server } = adapter
    const program = yield* Effect.mapError(server.program, unavailable("attachCommand"))
    const { password, url, username } = yield* Effect.mapError(server.connection, unavailable("attachCommand"))
    const attach = [program, "attach", url, "--session", id, "--dir", directory]
    return {
      argv: ["/bin/sh", "-c", `cd ${neutralFolder} && exec "$@"`, "opencode", ...attach],
      env: { OPENCODE_SERVER_USERNAME: username, OPENCODE_SERVER_PASSWORD: Redacted.value(password) }
    }
  })

const models = (adapter: OpenCodeAdapter): AgentRuntimeShape["models"] =>
  Effect.fn("AgentRuntime.models")(function* (directory) {
    yield* requirePermitted(adapter, "models", directory)
    const { providers } = yield* adapter.calls
      .reaching("models", (client, signal) => client.config.providers({ directory }, { signal }))
      .pipe(Effect.mapError(fault("models")))
    return providers.flatMap((provider) => Object.keys(provider.models).map((model) => `${provider.id}/${model}`))
  })

const check = ({ server }: OpenCodeAdapter): AgentRuntimeShape["check"] =>
  Effect.gen(function* () {
    const version = yield* Effect.mapError(server.version, unavailable("check"))
    const location = yield* Effect.mapError(server.location, unavailable("check"))
    return { name: "opencode" as const, version, running: yield* server.isRunning, location }
  })

const makeOpenCodeRuntime = Effect.fn("OpenCode.runtime")(function* (options: OpenCodeRuntimeOptions) {
  const adapter = yield* makeOpenCodeAdapter(options)
  const runtime = AgentRuntime.of({
    name: "opencode",
    create: create(adapter),
    prompt: prompt(adapter),
    abort: abort(adapter),
    inspect: inspect(adapter),
    events: adapter.feed.events,
    reply: reply(adapter),
    pendingPrompts: pendingPrompts(adapter),
    history: history(adapter),
    fork: fork(adapter),
    attachCommand: attachCommand(adapter),
    models: models(adapter),
    check: check(adapter)
  })
  return yield* askingAboutSandbox(withReadableInstructions(runtime), adapter.server.sandbox, adapter.rules)
})

/**
 * A runtime that hosts sessions in OpenCode. Needs an `OpenCodeServer`: a child of this process
 * (`OpenCodeServer.layer`), which is started with the first call, or a server that somebody else runs
 * (`OpenCodeServer.layerConnect`). Calls and turns wait while the server is away, up to the grace, and then fail as
 * `gone`; the session is kept and the same prompt continues the turn.
 *
 * @example layerOpenCode().pipe(Layer.provide(OpenCodeServer.layer({ stateDirectory })))
 */
export const layerOpenCode = (options: OpenCodeRuntimeOptions = {}) =>
  Layer.effect(AgentRuntime, makeOpenCodeRuntime(options))
