/** The port in memory: agents play a script. It passes the same contract suite as OpenCode and Claude. */
import { addTokens, defined, noTokens, noUsage } from "@reprise/protocol"
import { Clock, Deferred, Effect, FiberMap, PubSub, type Scope, Stream } from "effect"
import { AgentError } from "../AgentError.ts"
import type { AgentRuntimeShape, Inspection, Prompt, SessionState } from "../AgentRuntimeShape.ts"
import type { RuntimeEvent } from "../RuntimeEvent.ts"
import { MemoryControl, type MemoryOptions } from "./MemoryScript.ts"
import { MemorySession, memoryModel, type RunningTurn, type TurnEnd } from "./MemorySession.ts"
import { playTurn } from "./playTurn.ts"

const nothing: Inspection = { state: { _tag: "missing" }, messageCount: 0, usage: noUsage }

const error = (operation: string, kind: "session-missing" | "busy" | "aborted" | "other", detail: string) =>
  new AgentError({ operation, kind, detail, sessionUsable: kind !== "session-missing" })

const stateOf = (session: MemorySession): SessionState => {
  const waiting = session.running?.waiting
  if (waiting !== undefined) return { _tag: "prompting", prompt: waiting.prompt }
  if (session.running !== undefined) return { _tag: "busy" }
  return { _tag: session.messages.length === 0 ? "empty" : "idle" }
}

export const makeMemoryRuntime = Effect.fn("MemoryRuntime.make")(function* (
  options: MemoryOptions
): Effect.fn.Return<AgentRuntimeShape, never, Scope.Scope> {
  const control = options.control ?? new MemoryControl()
  const name = options.name ?? "opencode"
  const sessions = new Map<string, MemorySession>()
  const fibers = yield* FiberMap.make<string>()
  const hub = yield* PubSub.unbounded<RuntimeEvent>()
  const tell = (event: RuntimeEvent) => Effect.asVoid(PubSub.publish(hub, event))

  const need = (operation: string, id: string) => {
    const session = sessions.get(id)
    return session === undefined
      ? error(operation, "session-missing", `There is no session ${id}. Start a new one.`)
      : Effect.succeed(session)
  }
  const add = (session: MemorySession) => {
    sessions.set(session.id, session)
    return session.id
  }
  const nextId = () => `ses_memory_${sessions.size + 1}`

  /** Ends the running turn from outside. */
  const cut = Effect.fnUntraced(function* (session: MemorySession, end: TurnEnd) {
    const turn = session.running
    if (turn === undefined) return
    yield* FiberMap.remove(fibers, session.id)
    session.running = undefined
    yield* Deferred.succeed(turn.end, end)
    if (turn.waiting !== undefined) {
      const { promptId } = turn.waiting.prompt
      yield* tell({ type: "replied", sessionId: session.id, causePromptId: turn.messageId, promptId })
    }
    yield* tell({ type: "idle", sessionId: session.id, causePromptId: turn.messageId })
  })
  control.onCrash(
    Effect.suspend(() => Effect.forEach(sessions.values(), (it) => cut(it, "crashed"), { discard: true }))
  )

  const start = Effect.fnUntraced(function* (session: MemorySession, { promptId, text }: Prompt) {
    const turn: RunningTurn = {
      messageId: promptId.messageId,
      end: yield* Deferred.make<TurnEnd>(),
      waiting: undefined
    }
    session.running = turn
    if (!session.has(turn.messageId)) session.addUser(turn.messageId, text, yield* Clock.currentTimeMillis)
    const play = playTurn({ session, turn, text, script: options.script, control, tell }).pipe(
      Effect.andThen(
        Effect.suspend(() => {
          session.running = undefined
          return tell({ type: "idle", sessionId: session.id, causePromptId: turn.messageId })
        })
      )
    )
    yield* FiberMap.run(fibers, session.id, play)
    return turn
  })

  const prompt: AgentRuntimeShape["prompt"] = Effect.fn("AgentRuntime.prompt")(function* (it) {
    const session = yield* need("prompt", it.runtimeSessionId)
    const { messageId } = it.promptId
    for (;;) {
      const last = session.answersTo(messageId).at(-1)
      const isRunning = session.running?.messageId === messageId
      if (!isRunning && (last?.end === "finished" || last?.end === "refused")) return session.outcomeOf(messageId)
      if (!isRunning && last?.end === "aborted") return yield* error("prompt", "aborted", "The turn was aborted.")
      if (!isRunning && session.running !== undefined) {
        return yield* error("prompt", "busy", `Another turn runs in session ${session.id}. Wait until it is idle.`)
      }
      const turn = session.running ?? (yield* start(session, it))
      const end = yield* Deferred.await(turn.end)
      if (end instanceof AgentError) return yield* end
      if (end !== "crashed") return end
    }
  })

  const abort: AgentRuntimeShape["abort"] = Effect.fn("AgentRuntime.abort")(function* (id) {
    const session = sessions.get(id)
    const running = session?.running
    if (session === undefined || running === undefined) return
    const [answer] = session.answersTo(running.messageId).slice(-1)
    const { atMs, tokens, toolCalls } = answer ?? {
      atMs: yield* Clock.currentTimeMillis,
      tokens: noTokens,
      toolCalls: 0
    }
    yield* cut(session, error("prompt", "aborted", "The turn was aborted."))
    session.write(running.messageId, answer?.message.content ?? [], { end: "aborted", atMs, tokens, toolCalls })
  })

  return {
    name,
    create: (it) => Effect.sync(() => add(new MemorySession(nextId(), it.directory, it.permissions))),
    prompt,
    abort,
    inspect: (id) =>
      Effect.sync(() => {
        const session = sessions.get(id)
        if (session === undefined) return nothing
        const lastMessage = session.lastMessage()
        const causes = session.messages.flatMap(({ message }) => (message.role === "user" ? [message.id] : []))
        return {
          state: stateOf(session),
          messageCount: session.messages.length,
          usage: {
            tokens: causes.map((cause) => session.outcomeOf(cause).tokens).reduce(addTokens, noTokens),
            cost: 0,
            calls: session.messages.length - causes.length
          },
          ...(session.messages.length > causes.length ? { model: memoryModel } : {}),
          ...defined({ lastMessage })
        }
      }),
    events: Stream.fromPubSub(hub),
    reply: Effect.fn("AgentRuntime.reply")(function* (it) {
      const waiting = (yield* need("reply", it.runtimeSessionId)).running?.waiting
      if (waiting?.prompt.promptId !== it.promptId) return "gone"
      yield* Deferred.succeed(waiting.answer, it.reply)
      return "delivered"
    }),
    pendingPrompts: (directory) =>
      Effect.sync(() =>
        [...sessions.values()].flatMap(({ directory: at, running }) =>
          at === directory && running?.waiting !== undefined ? [running.waiting.prompt] : []
        )
      ),
    history: (id) =>
      Effect.map(need("history", id), ({ messages }) =>
        messages.flatMap(({ message }) => (message.content.length === 0 ? [] : [message]))
      ),
    fork: ({ directory, permissions, runtimeSessionId, through }) =>
      Effect.flatMap(need("fork", runtimeSessionId), (session) => {
        const messages = session.messagesThrough(through)
        return messages === undefined
          ? error("fork", "other", `Session ${runtimeSessionId} has no prompt ${through}. Fork it at another turn.`)
          : Effect.succeed(add(new MemorySession(nextId(), directory, permissions, messages)))
      }),
    attachCommand: (id) =>
      Effect.map(need("attachCommand", id), (session) => ({ argv: ["opencode", "attach", session.id], env: {} })),
    models: () => Effect.succeed([memoryModel]),
    check: Effect.succeed({ name, version: "0.0.0", running: true, location: "memory" })
  }
})
