/** The port on OpenCode. */
import type { Session, SessionStatus } from "@opencode-ai/sdk/v2/client"
import { noTokens, type Tokens } from "@reprise/protocol"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { AgentError } from "../AgentError.ts"
import { AgentRuntime } from "../AgentRuntime.ts"
import type { AgentRuntimeShape, Inspection, LastMessage, SessionState } from "../AgentRuntimeShape.ts"
import type { PendingPrompt } from "../RuntimeEvent.ts"
import { kindOfRetry } from "./ActivityTracker.ts"
import { type Calls, makeCalls, type Refused } from "./calls.ts"
import { makeContextLimit } from "./contextLimits.ts"
import { makeEventFeed } from "./EventFeed.ts"
import { historyOf } from "./history.ts"
import { OpenCodeServer } from "./OpenCodeServer.ts"
import { modeMetadata, permissionRules } from "./permissionRules.ts"
import { modelOf, runTurn } from "./runTurn.ts"
import { SessionFacts } from "./SessionFacts.ts"
import { type Listed, tokensOf } from "./turnOf.ts"

export interface OpenCodeRuntimeOptions {
  /** How long OpenCode may be away before a call, or a turn, gives up. Default 60 s. */
  readonly runtimeGraceMs?: number
  /** How often a turn's session is asked for its status. Default 2 s. */
  readonly pollMs?: number
  /** How long OpenCode may wait for the model's vendor by itself before a turn is given back. Default 60 s. */
  readonly retryPatienceMs?: number
}

const fault = (operation: string) => (error: Refused | AgentError) =>
  error._tag === "AgentError"
    ? error
    : new AgentError({ kind: "other", operation, detail: error.message, sessionUsable: true })

const missing = (operation: string, id: string) =>
  new AgentError({
    kind: "session_missing",
    operation,
    detail: `OpenCode has no session ${id}. Start a new one.`,
    sessionUsable: false
  })

const lastOf = (messages: ReadonlyArray<Listed>): LastMessage | undefined => {
  const info = messages.at(-1)?.info
  if (info === undefined) return undefined
  if (info.role === "user") return { id: info.id, role: "user", finished: true, atMs: info.time.created }
  return {
    id: info.id,
    role: "assistant",
    causePromptId: info.parentID,
    finished: info.time.completed !== undefined && info.finish !== undefined && info.finish !== "tool-calls",
    atMs: info.time.completed ?? info.time.created
  }
}

const stateOf = (
  status: SessionStatus | undefined,
  prompt: PendingPrompt | undefined,
  messageCount: number,
  nowMs: number
): SessionState => {
  if (prompt !== undefined) return { _tag: "prompting", prompt }
  if (status?.type === "retry") {
    const { attempt, message, next } = status
    return { _tag: "retrying", attempt, kind: kindOfRetry(message), message, retryAfterMs: Math.max(0, next - nowMs) }
  }
  if (status?.type === "busy") return { _tag: "busy" }
  return { _tag: messageCount === 0 ? "empty" : "idle" }
}

const nothing: Inspection = { state: { _tag: "missing" }, messageCount: 0, tokens: noTokens, cost: 0 }

/** None for a session that OpenCode does not have; ids that are not its own are not asked for. */
const findSession = (calls: Calls, operation: string, id: string): Effect.Effect<Option.Option<Session>, AgentError> =>
  id.startsWith("ses_")
    ? calls
        .reaching(operation, (client, signal) => client.session.get({ sessionID: id }, { signal }))
        .pipe(
          Effect.asSome,
          Effect.catchIf(
            (error) => error._tag === "Refused" && error.status === 404,
            () => Effect.succeedNone
          ),
          Effect.mapError(fault(operation))
        )
    : Effect.succeedNone

const makeOpenCodeRuntime = Effect.fn("OpenCode.runtime")(function* (options: OpenCodeRuntimeOptions = {}) {
  const server = yield* OpenCodeServer
  const graceMs = options.runtimeGraceMs ?? 60_000
  const pollMs = options.pollMs ?? 2000
  const patienceMs = options.retryPatienceMs ?? 60_000
  const calls = makeCalls(server, graceMs)
  const limitOf = makeContextLimit(calls)
  const facts = new SessionFacts()
  const feed = yield* makeEventFeed({ server, calls, facts, graceMs, pollMs: Math.max(pollMs, 1000) })

  const known = (session: Session) => Effect.as(feed.watch(facts.remember(session)), session)
  const find = (operation: string, id: string) =>
    findSession(calls, operation, id).pipe(
      Effect.tap((found) => (Option.isSome(found) ? known(found.value) : Effect.void))
    )
  const need = (operation: string, id: string) =>
    Effect.flatMap(find(operation, id), (found) =>
      Option.isSome(found) ? Effect.succeed(found.value) : missing(operation, id)
    )
  const listed = (operation: string, { directory, id }: Session) =>
    calls
      .reaching(operation, (client, signal) => client.session.messages({ sessionID: id, directory }, { signal }))
      .pipe(Effect.mapError(fault(operation)))

  const create: AgentRuntimeShape["create"] = Effect.fn("AgentRuntime.create")(function* (session) {
    const model = modelOf(session.model)
    const created = yield* calls
      .reaching("create", (client, signal) =>
        client.session.create(
          {
            directory: session.directory,
            title: session.title,
            permission: permissionRules(session.permissions),
            metadata: modeMetadata(session.permissions),
            ...(model === undefined ? {} : { model: { providerID: model.providerID, id: model.modelID } })
          },
          { signal }
        )
      )
      .pipe(Effect.mapError(fault("create")))
    return (yield* known(created)).id
  })

  const prompt: AgentRuntimeShape["prompt"] = Effect.fn("AgentRuntime.prompt")(function* (it) {
    const session = yield* need("prompt", it.runtimeSessionId)
    return yield* runTurn({ calls, feed, graceMs, pollMs, patienceMs, limitOf }, session, it)
  })

  /** OpenCode keeps the requests of a turn that was aborted (measured): they are refused, so that nobody is asked. */
  const dropPrompts = Effect.fnUntraced(function* ({ directory, id }: Session) {
    yield* Effect.ignore(feed.pending.list(directory))
    for (const { kind, promptId } of feed.pending.ofSession(id)) {
      yield* calls
        .once("dropping a request", (client, signal) =>
          kind === "permission"
            ? client.permission.reply({ requestID: promptId, directory, reply: "reject" }, { signal })
            : client.question.reject({ requestID: promptId, directory }, { signal })
        )
        .pipe(Effect.ignore)
    }
  })

  const abort: AgentRuntimeShape["abort"] = Effect.fn("AgentRuntime.abort")(function* (id) {
    const session = yield* find("abort", id)
    if (Option.isNone(session)) return
    const { directory } = session.value
    yield* calls
      .reaching("abort", (client, signal) => client.session.abort({ sessionID: id, directory }, { signal }))
      .pipe(Effect.mapError(fault("abort")))
    yield* dropPrompts(session.value)
  })

  const inspect: AgentRuntimeShape["inspect"] = Effect.fn("AgentRuntime.inspect")(function* (id) {
    const found = yield* find("inspect", id)
    if (Option.isNone(found)) return nothing
    const session = found.value
    const { directory } = session
    const status = yield* calls
      .reaching("inspect", (client, signal) => client.session.status({ directory }, { signal }))
      .pipe(Effect.mapError(fault("inspect")))
    const messages = yield* listed("inspect", session)
    const now = yield* Clock.currentTimeMillis
    // A session that waits for an answer is busy; only then is there anything to list.
    const prompts = status[id] === undefined ? [] : yield* Effect.orElseSucceed(feed.pending.list(directory), () => [])
    const lastMessage = lastOf(messages)
    const tokens: Tokens = session.tokens === undefined ? noTokens : tokensOf(session.tokens)
    return {
      state: stateOf(
        status[id],
        prompts.find(({ sessionId }) => sessionId === id),
        messages.length,
        now
      ),
      messageCount: messages.length,
      tokens,
      cost: session.cost ?? 0,
      ...(lastMessage === undefined ? {} : { lastMessage })
    }
  })

  const reply: AgentRuntimeShape["reply"] = Effect.fn("AgentRuntime.reply")(function* (it) {
    const { directory } = yield* need("reply", it.runtimeSessionId)
    const requestID = it.promptId
    const answer = it.reply
    return yield* calls
      .reaching("reply", (client, signal) => {
        if (answer.kind === "permission") {
          const { message } = answer
          const words = message === undefined ? {} : { message }
          return client.permission.reply({ requestID, directory, reply: answer.reply, ...words }, { signal })
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

  const pendingPrompts: AgentRuntimeShape["pendingPrompts"] = Effect.fn("AgentRuntime.pendingPrompts")(
    function* (directory) {
      // One call that waits for a server that is away; the lists then come from one that is there.
      yield* calls
        .reaching("pendingPrompts", (client, signal) => client.session.status({ directory }, { signal }))
        .pipe(Effect.mapError(fault("pendingPrompts")))
      return yield* feed.pending.list(directory).pipe(
        Effect.mapError(
          (error) =>
            new AgentError({
              kind: "other",
              operation: "pendingPrompts",
              detail: error.message,
              sessionUsable: true
            })
        )
      )
    }
  )

  const history: AgentRuntimeShape["history"] = Effect.fn("AgentRuntime.history")(function* (id) {
    return historyOf(yield* listed("history", yield* need("history", id)))
  })

  /** A fork has its own copy of nothing but the messages: the rules are set again (measured). */
  const fork: AgentRuntimeShape["fork"] = Effect.fn("AgentRuntime.fork")(function* (id) {
    const { directory, metadata, permission } = yield* need("fork", id)
    const forked = yield* calls
      .reaching("fork", (client, signal) => client.session.fork({ sessionID: id, directory }, { signal }))
      .pipe(Effect.mapError(fault("fork")))
    const rules = {
      ...(permission === undefined ? {} : { permission }),
      ...(metadata === undefined ? {} : { metadata })
    }
    const ruled = yield* calls
      .reaching("fork", (client, signal) =>
        client.session.update({ sessionID: forked.id, directory, ...rules }, { signal })
      )
      .pipe(Effect.mapError(fault("fork")))
    return (yield* known(ruled)).id
  })

  const unavailable = (operation: string) => (error: { readonly message: string }) =>
    new AgentError({ kind: "runtime_gone", operation, detail: error.message, sessionUsable: true })

  const attachCommand: AgentRuntimeShape["attachCommand"] = Effect.fn("AgentRuntime.attachCommand")(function* (id) {
    const { directory } = yield* need("attachCommand", id)
    const program = yield* Effect.mapError(server.program, unavailable("attachCommand"))
    const { password, url, username } = yield* Effect.mapError(server.connection, unavailable("attachCommand"))
    return {
      argv: [program, "attach", url, "--session", id, "--dir", directory],
      env: { OPENCODE_SERVER_USERNAME: username, OPENCODE_SERVER_PASSWORD: Redacted.value(password) }
    }
  })

  const models: AgentRuntimeShape["models"] = Effect.fn("AgentRuntime.models")(function* (directory) {
    const { providers } = yield* calls
      .reaching("models", (client, signal) => client.config.providers({ directory }, { signal }))
      .pipe(Effect.mapError(fault("models")))
    return providers.flatMap((provider) => Object.keys(provider.models).map((model) => `${provider.id}/${model}`))
  })

  const check = Effect.gen(function* () {
    const version = yield* Effect.mapError(server.version, unavailable("check"))
    const location = yield* Effect.mapError(server.location, unavailable("check"))
    return { name: "opencode" as const, version, running: yield* server.isRunning, location }
  })

  return AgentRuntime.of({
    name: "opencode",
    create,
    prompt,
    abort,
    inspect,
    events: feed.events,
    reply,
    pendingPrompts,
    history,
    fork,
    attachCommand,
    models,
    check
  })
})

/** Needs an `OpenCodeServer`: ours (`layer`) or somebody else's (`layerConnect`). */
export const layerOpenCode = (options: OpenCodeRuntimeOptions = {}) =>
  Layer.effect(AgentRuntime, makeOpenCodeRuntime(options))
