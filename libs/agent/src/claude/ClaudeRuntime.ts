/** The port on Claude: the agent SDK, one process for each prompt, and the transcripts that Claude keeps. */
import { randomUUID } from "node:crypto"
import { mkdir, readFile, realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { endLeftovers } from "@reprise/process"
import { noTokens } from "@reprise/protocol"
import { Clock, Deferred, Effect, FiberSet, Layer, Option, PubSub, Semaphore, Stream } from "effect"
import { AgentRuntime } from "../AgentRuntime.ts"
import type { AgentRuntimeShape, Inspection, Prompt, SessionState } from "../AgentRuntimeShape.ts"
import type { RuntimeEvent } from "../RuntimeEvent.ts"
import { ClaudeStateFault } from "./ClaudeUnavailable.ts"
import { claudeEnvironment } from "./environment.ts"
import { forkSession } from "./forkSession.ts"
import { historyOf } from "./history.ts"
import { type KnownSession, KnownSessions } from "./KnownSessions.ts"
import { LiveTurn } from "./LiveTurn.ts"
import { listModels } from "./listModels.ts"
import { type ClaudeSdk, loadSdk, locateClaude } from "./loadSdk.ts"
import { isUnsafeRoot } from "./permissions.ts"
import { busy, fault, gone, missing, unsafe } from "./refusals.ts"
import { runTurn } from "./runTurn.ts"
import { changePrompted, nameOf } from "./SessionRecord.ts"
import { lastMessageOf, messageCountOf, ownedBy, turnOf } from "./turnOf.ts"
import { isForeignBusy, lookAt, markTold } from "./watchTranscripts.ts"

export interface ClaudeRuntimeOptions {
  /** Where what Claude does not keep is kept: `.reprise` of a repository. */
  readonly stateDirectory: string
  /** Of Claude and its tools, besides what the adapter sets. Default: ours. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** How often transcripts are looked at for what others do. Default 500 ms. */
  readonly pollMs?: number
  /** How long Claude may wait for the model's vendor by itself before a turn is given back. Default 60 s. */
  readonly retryPatienceMs?: number
  /** How often the model is asked in a turn before it is cut off. Default 20. */
  readonly maxTurns?: number
  /** Only to look: the directory may be another process's, whose agents are at work and are left alone. */
  readonly visiting?: boolean
}

interface ReadyClaude {
  readonly sdk: ClaudeSdk
  readonly environment: Readonly<Record<string, string>>
}

const nothing: Inspection = { state: { _tag: "missing" }, messageCount: 0, tokens: noTokens, cost: 0 }

const isLost = ({ record, transcript }: KnownSession) => record.begun && transcript === undefined

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

const makeClaudeRuntime = Effect.fn("Claude.runtime")(function* (options: ClaudeRuntimeOptions) {
  const { maxTurns = 20, pollMs = 500, retryPatienceMs: patienceMs = 60_000, stateDirectory, visiting } = options
  const own = options.environment ?? process.env
  const configDirectory = own["CLAUDE_CONFIG_DIR"] ?? join(own["HOME"] ?? homedir(), ".claude")
  const sessions = new KnownSessions(stateDirectory, configDirectory)
  const hub = yield* PubSub.sliding<RuntimeEvent>(16_384)
  const tell = (event: RuntimeEvent) => Effect.asVoid(PubSub.publish(hub, event))
  const fork = yield* FiberSet.makeRuntime()
  const settling = yield* Semaphore.make(1)

  let settledIn: string | undefined
  /**
   * Before anything is read or started, what an earlier owner of the directory left behind is ended: it would still
   * write. Gives the directory's real path.
   */
  const settled = Effect.gen(function* () {
    if (settledIn !== undefined) return settledIn
    const directory = yield* Effect.tryPromise({
      try: () => mkdir(stateDirectory, { recursive: true }).then(() => realpath(stateDirectory)),
      catch: (cause) => new ClaudeStateFault({ operation: "Making the state directory", cause })
    })
    if (visiting !== true) yield* endLeftovers(`REPRISE_CLAUDE_STATE=${directory}`)
    settledIn = directory
    return directory
  }).pipe(settling.withPermits(1))

  let sdk: ClaudeSdk | undefined
  /** The SDK, and the environment of what it starts. */
  const ready = Effect.gen(function* () {
    const directory = yield* settled
    sdk ??= yield* loadSdk(own)
    return { sdk, environment: { ...claudeEnvironment(own), REPRISE_CLAUDE_STATE: directory } }
  })
  const readyFor = (operation: string) => Effect.mapError(ready, gone(operation))

  const find = (operation: string, id: string) =>
    Effect.mapError(Effect.andThen(settled, sessions.find(id)), fault(operation))
  const need = (operation: string, id: string) =>
    Effect.flatMap(find(operation, id), (found) =>
      Option.isSome(found) && !isLost(found.value) ? Effect.succeed(found.value) : missing(operation, id)
    )

  const create: AgentRuntimeShape["create"] = Effect.fn("AgentRuntime.create")(function* (session) {
    yield* readyFor("create")
    const { directory, model, permissions, title } = session
    if (isUnsafeRoot(permissions, own)) return yield* unsafe("create")
    const id = randomUUID()
    const chosen = model === undefined ? {} : { model }
    const record = { version: 1, id, directory, title, permissions, begun: false, prompts: [], allowed: [] } as const
    yield* Effect.mapError(sessions.save({ ...record, ...chosen }), fault("create"))
    return id
  })

  /** Begins a turn that goes on whatever becomes of the caller. */
  const begin = (known: KnownSession, it: Prompt, claude: ReadyClaude): LiveTurn => {
    const live = new LiveTurn(it.promptId.messageId)
    known.live = live
    const at = { sessionId: known.record.id, causePromptId: live.messageId }
    fork(
      runTurn({ ...claude, sessions, tell, patienceMs, maxTurns }, known, live, it).pipe(
        Effect.tapError(({ detail: message, kind, retryAfterMs }) => {
          const later = retryAfterMs === undefined ? {} : { retryAfterMs }
          return live.told && kind !== "aborted"
            ? tell({ type: "failed", ...at, kind, message, recovering: false, ...later })
            : Effect.void
        }),
        Effect.onExit((exit) =>
          Effect.gen(function* () {
            yield* Effect.ignore(sessions.refresh(known))
            markTold(known)
            known.live = undefined
            if (live.told) yield* tell({ type: "idle", ...at })
            yield* Deferred.done(live.end, exit)
          })
        ),
        Effect.ignore
      )
    )
    return live
  }

  const prompt: AgentRuntimeShape["prompt"] = Effect.fn("AgentRuntime.prompt")(function* (it) {
    const id = it.runtimeSessionId
    const known = yield* need("prompt", id)
    const claude = yield* readyFor("prompt")
    if (isUnsafeRoot(known.record.permissions, own)) return yield* unsafe("prompt")
    if (known.live === undefined && (yield* isForeignBusy(sessions, known))) return yield* busy(id)
    if (known.live !== undefined && known.live.messageId !== it.promptId.messageId) return yield* busy(id)
    const live = known.live ?? begin(known, it, claude)
    return yield* Deferred.await(live.end)
  })

  /** Writes down that the turn is not to go on, if it has begun. */
  const markAborted = (known: KnownSession, messageId: string) =>
    Effect.mapError(sessions.update(known, changePrompted(messageId, { aborted: true })), fault("abort"))

  const abort: AgentRuntimeShape["abort"] = Effect.fn("AgentRuntime.abort")(function* (id) {
    const found = yield* find("abort", id)
    if (Option.isNone(found)) return
    const known = found.value
    const { live } = known
    if (live === undefined) {
      // A turn that was cut off and that nobody has taken up again.
      const last = known.record.prompts.at(-1)
      const turn = turnOf(known.entries, last?.uuids ?? [])._tag
      if (last !== undefined && (turn === "open" || turn === "unfinished")) yield* markAborted(known, last.messageId)
      return
    }
    live.aborted = true
    yield* markAborted(known, live.messageId)
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

  const inspect: AgentRuntimeShape["inspect"] = Effect.fn("AgentRuntime.inspect")(function* (id) {
    const found = yield* find("inspect", id)
    if (Option.isNone(found) || isLost(found.value)) return nothing
    const known = found.value
    const foreignBusy = known.live === undefined && (yield* isForeignBusy(sessions, known))
    const prompts = known.entries.flatMap((entry) => (entry.kind === "prompt" ? [entry.uuid] : []))
    return {
      state: stateOf(known, foreignBusy, yield* Clock.currentTimeMillis),
      messageCount: messageCountOf(known.entries),
      tokens: yield* sessions.allTokens(known),
      cost: ownedBy(known.entries, new Set(prompts)).cost,
      ...lastMessageOf(known.entries, nameOf(known.record))
    }
  })

  const reply: AgentRuntimeShape["reply"] = Effect.fn("AgentRuntime.reply")(function* (it) {
    const known = yield* need("reply", it.runtimeSessionId)
    const waiting = known.live?.waiting.get(it.promptId)
    if (waiting === undefined) return "gone"
    return (yield* Deferred.succeed(waiting.answer, it.reply)) ? "delivered" : "gone"
  })

  const history: AgentRuntimeShape["history"] = Effect.fn("AgentRuntime.history")(function* (id) {
    const { record, transcript } = yield* need("history", id)
    if (transcript === undefined) return []
    const text = yield* Effect.tryPromise({
      try: () => readFile(transcript.path, "utf8"),
      catch: (cause) => fault("history")(new ClaudeStateFault({ operation: "Reading a transcript", cause }))
    })
    return historyOf(text, nameOf(record))
  })

  const forkOf: AgentRuntimeShape["fork"] = Effect.fn("AgentRuntime.fork")(function* (id) {
    const known = yield* need("fork", id)
    const forked = randomUUID()
    yield* Effect.mapError(forkSession(sessions, known, forked), fault("fork"))
    return forked
  })

  /** Claude looks for a session by the directory that it is started in. */
  const attachCommand: AgentRuntimeShape["attachCommand"] = Effect.fn("AgentRuntime.attachCommand")(function* (id) {
    const { entries, record } = yield* need("attachCommand", id)
    const { program } = yield* Effect.mapError(locateClaude(own), gone("attachCommand"))
    const configured = own["CLAUDE_CONFIG_DIR"]
    const how = entries.some(({ kind }) => kind === "prompt") ? "--resume" : "--session-id"
    return {
      argv: ["/bin/sh", "-c", 'cd -- "$1" && exec "$2" "$3" "$4"', "claude", record.directory, program, how, id],
      env: configured === undefined ? {} : { CLAUDE_CONFIG_DIR: configured }
    }
  })

  const models: AgentRuntimeShape["models"] = Effect.fn("AgentRuntime.models")(function* (directory) {
    const { environment, sdk } = yield* readyFor("models")
    return yield* Effect.mapError(listModels(sdk, directory, environment), fault("models"))
  })

  const look = Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(`${pollMs} millis`)
      for (const known of sessions.all) {
        yield* Effect.forEach(yield* lookAt(sessions, known), tell, { discard: true })
      }
    }
  })
  yield* Effect.forkScoped(look)

  return AgentRuntime.of({
    name: "claude",
    create,
    prompt,
    abort,
    inspect,
    events: Stream.fromPubSub(hub),
    reply,
    pendingPrompts: (directory) =>
      Effect.sync(() =>
        [...sessions.all].flatMap(({ live, record }) =>
          record.directory === directory ? [...(live?.waiting.values() ?? [])].map((it) => it.prompt) : []
        )
      ),
    history,
    fork: forkOf,
    attachCommand,
    models,
    check: Effect.map(Effect.mapError(locateClaude(own), gone("check")), ({ program, version }) => ({
      name: "claude" as const,
      version,
      running: true,
      location: program
    }))
  })
})

/** Loads the SDK when the first session is made: a host without it can say what is missing. */
export const layerClaude = (options: ClaudeRuntimeOptions) => Layer.effect(AgentRuntime, makeClaudeRuntime(options))
