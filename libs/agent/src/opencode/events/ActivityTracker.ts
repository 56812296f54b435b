/**
 * Turns OpenCode's events into the port's, each with the prompt that caused it. For busy sessions it keeps the state
 * that is needed to find the cause of the next event.
 */
import type { GlobalEvent, Message, Part, PermissionRequest, QuestionRequest } from "@opencode-ai/sdk/v2/client"
import { addTokens, defined, noTokens, type Tokens } from "@reprise/protocol"
import type { Evidence, RuntimeEvent } from "../../RuntimeEvent.ts"
import { type TextPiece, TextThrottle } from "../../TextThrottle.ts"
import { toolArgument } from "../../toolArgument.ts"
import type { SessionFacts } from "../session/SessionFacts.ts"
import { failureOf, kindOfText } from "../turn/failures.ts"
import { tokensOf } from "../turn/turnOf.ts"

/** A request that becomes an event unless the session's mode answers it. */
export type Asked =
  | { readonly type: "permission-asked"; readonly request: PermissionRequest }
  | { readonly type: "question-asked"; readonly request: QuestionRequest }

export type Observed = RuntimeEvent | Asked

interface Activity {
  /** Undefined before the first event about the session. */
  busy: boolean | undefined
  cause: string | undefined
  tokens: Tokens
  cost: number
  /** The size of the session's own newest model call. */
  contextTokens: number | undefined
  readonly words: TextThrottle
  /** The texts that are written, with how much of each has been taken. */
  readonly texts: Map<string, { readonly kind: TextPiece["kind"]; length: number }>
  workingAt: number
  /** Tool calls that were already published. */
  readonly calls: Set<string>
  /** Assistant messages of this session and its subagents, and what caused them. */
  readonly messages: Map<string, string | undefined>
  /** User messages that OpenCode wrote itself, for example to shorten a conversation, and what caused them. */
  readonly aliases: Map<string, string | undefined>
  attempt: number
}

const workingEveryMs = 1000

export class ActivityTracker {
  readonly #facts: SessionFacts
  readonly #activities = new Map<string, Activity>()

  constructor(facts: SessionFacts) {
    this.#facts = facts
  }

  #of(root: string): Activity {
    const known = this.#activities.get(root)
    if (known !== undefined) return known
    const activity: Activity = {
      busy: undefined,
      cause: undefined,
      tokens: noTokens,
      cost: 0,
      contextTokens: undefined,
      words: new TextThrottle(),
      texts: new Map(),
      workingAt: Number.NEGATIVE_INFINITY,
      calls: new Set(),
      messages: new Map(),
      aliases: new Map(),
      attempt: 0
    }
    this.#activities.set(root, activity)
    return activity
  }

  /** Whether the session was busy at its last event; undefined when there was no event. */
  isBusy(root: string): boolean | undefined {
    return this.#activities.get(root)?.busy
  }

  /** The root session and the cause that an event of this session is published with. */
  at(sessionId: string): { readonly sessionId: string; readonly causePromptId?: string } {
    const root = this.#facts.rootOf(sessionId)
    const cause = this.#activities.get(root)?.cause
    return { sessionId: root, ...defined({ causePromptId: cause }) }
  }

  /** A poll found the session busy without an event. */
  foundBusy(root: string, cause: string | undefined): ReadonlyArray<RuntimeEvent> {
    const activity = this.#of(root)
    activity.busy = true
    activity.cause = cause ?? activity.cause
    return [{ type: "working", ...this.at(root), evidence: "status" }]
  }

  /** The session is idle. Gives the event only the first time. */
  foundIdle(root: string): ReadonlyArray<RuntimeEvent> {
    const activity = this.#of(root)
    if (activity.busy === false) return []
    const event: RuntimeEvent = { type: "idle", ...this.at(root) }
    activity.busy = false
    activity.workingAt = Number.NEGATIVE_INFINITY
    const words = this.#told(root, activity.words.flush())
    activity.calls.clear()
    activity.messages.clear()
    activity.aliases.clear()
    activity.texts.clear()
    return [...words, event]
  }

  /** Whether something that was written has not been told. */
  get holdsWords(): boolean {
    return [...this.#activities.values()].some(({ words }) => words.holds)
  }

  /** What was written and has not been told. */
  heldWords(): ReadonlyArray<RuntimeEvent> {
    return [...this.#activities].flatMap(([root, { words }]) => this.#told(root, words.flush()))
  }

  /** Updates the state with an event that arrived at `nowMs`, and gives the events to publish. */
  observe(event: GlobalEvent["payload"], nowMs: number): ReadonlyArray<Observed> {
    switch (event.type) {
      case "session.created":
      case "session.updated":
        this.#facts.remember(event.properties.info)
        return []
      case "session.deleted": {
        const at = this.at(event.properties.sessionID)
        this.#facts.forget(event.properties.sessionID)
        this.#activities.delete(event.properties.sessionID)
        return at.sessionId === event.properties.sessionID ? [{ type: "gone", ...at }] : []
      }
      case "message.updated":
        return this.#message(event.properties.info)
      case "message.part.updated":
        return this.#part(event.properties.part, nowMs)
      case "message.part.delta": {
        const { delta, messageID, partID, sessionID } = event.properties
        const text = this.#of(this.#facts.rootOf(sessionID)).texts.get(partID)
        return [
          ...this.#working(sessionID, messageID, text?.kind ?? "text", nowMs),
          ...(text === undefined ? [] : this.#written(sessionID, partID, text, delta, nowMs))
        ]
      }
      case "session.status":
        return this.#status(event.properties.sessionID, event.properties.status, nowMs)
      case "session.idle":
        return this.#isRoot(event.properties.sessionID) ? this.foundIdle(event.properties.sessionID) : []
      case "session.error": {
        const { error, sessionID } = event.properties
        if (error === undefined || sessionID === undefined || error.name === "MessageAbortedError") return []
        const { sessionUsable: _, ...failure } = failureOf(error)
        return [{ type: "failed", ...this.at(sessionID), ...failure, recovering: false }]
      }
      case "permission.asked":
        return [{ type: "permission-asked", request: event.properties }]
      case "question.asked":
        return [{ type: "question-asked", request: event.properties }]
      case "permission.replied":
      case "question.replied":
      case "question.rejected":
        return [{ type: "replied", ...this.at(event.properties.sessionID), promptId: event.properties.requestID }]
      default:
        return []
    }
  }

  #isRoot(sessionId: string): boolean {
    return this.#facts.rootOf(sessionId) === sessionId
  }

  #message(info: Message): ReadonlyArray<Observed> {
    if (info.role === "user") return []
    const activity = this.#of(this.#facts.rootOf(info.sessionID))
    if (this.#isRoot(info.sessionID)) {
      const cause = activity.aliases.has(info.parentID) ? activity.aliases.get(info.parentID) : info.parentID
      if (cause !== activity.cause) {
        activity.tokens = noTokens
        activity.cost = 0
        activity.workingAt = Number.NEGATIVE_INFINITY
      }
      activity.cause = cause
    }
    activity.messages.set(info.id, activity.cause)
    return []
  }

  #part(part: Part, nowMs: number): ReadonlyArray<Observed> {
    const activity = this.#of(this.#facts.rootOf(part.sessionID))
    const isAssistants = activity.messages.has(part.messageID)
    switch (part.type) {
      case "compaction":
        activity.aliases.set(part.messageID, activity.cause)
        return []
      case "text":
        if (!isAssistants && part.synthetic === true) activity.aliases.set(part.messageID, activity.cause)
        return [
          ...(part.text === "" ? [] : this.#working(part.sessionID, part.messageID, "text", nowMs)),
          ...this.#textSoFar(part, nowMs)
        ]
      case "reasoning":
        return [...this.#working(part.sessionID, part.messageID, "reasoning", nowMs), ...this.#textSoFar(part, nowMs)]
      case "step-finish": {
        const used = tokensOf(part.tokens)
        activity.tokens = addTokens(activity.tokens, used)
        activity.cost += part.cost
        if (this.#isRoot(part.sessionID)) activity.contextTokens = sizeOf(used)
        return [...this.#told(part.sessionID, activity.words.flush()), this.#progress(part.sessionID, activity)]
      }
      case "tool": {
        if (part.state.status === "pending") return []
        activity.messages.set(part.messageID, activity.cause)
        const isNew = !activity.calls.has(part.callID)
        activity.calls.add(part.callID)
        const working = this.#working(part.sessionID, part.messageID, "tool", nowMs)
        if (!isNew) return working
        const argument = toolArgument(part.state.input)
        return [
          ...this.#told(part.sessionID, activity.words.flush()),
          ...working,
          {
            ...this.#progress(part.sessionID, activity),
            tool: part.tool,
            ...defined({ argument })
          }
        ]
      }
      default:
        return []
    }
  }

  #progress(sessionId: string, { contextTokens, cost, tokens }: Activity) {
    const context = contextTokens === undefined ? {} : { contextTokens }
    return { type: "progress" as const, ...this.at(sessionId), tokens, cost, ...context }
  }

  #told(sessionId: string, words: ReadonlyArray<TextPiece>): ReadonlyArray<RuntimeEvent> {
    return words.map((some) => ({ type: "words", ...this.at(sessionId), ...some }))
  }

  /** A text as a whole: OpenCode sends it before the first piece, and after the last. */
  #textSoFar(part: Extract<Part, { type: "text" | "reasoning" }>, nowMs: number): ReadonlyArray<RuntimeEvent> {
    const { texts, messages } = this.#of(this.#facts.rootOf(part.sessionID))
    if (!this.#isRoot(part.sessionID) || !messages.has(part.messageID)) return []
    const known = texts.get(part.id) ?? { kind: part.type, length: 0 }
    texts.set(part.id, known)
    return this.#written(part.sessionID, part.id, known, part.text.slice(known.length), nowMs)
  }

  #written(
    sessionId: string,
    id: string,
    text: { readonly kind: TextPiece["kind"]; length: number },
    piece: string,
    nowMs: number
  ): ReadonlyArray<RuntimeEvent> {
    if (piece === "") return []
    text.length += piece.length
    return this.#told(sessionId, this.#of(this.#facts.rootOf(sessionId)).words.add(id, text.kind, piece, nowMs))
  }

  #working(sessionId: string, messageId: string, evidence: Evidence, nowMs: number): ReadonlyArray<RuntimeEvent> {
    const activity = this.#of(this.#facts.rootOf(sessionId))
    if (!activity.messages.has(messageId)) return []
    activity.busy = true
    if (nowMs - activity.workingAt < workingEveryMs) return []
    activity.workingAt = nowMs
    return [{ type: "working", ...this.at(sessionId), evidence }]
  }

  #status(
    sessionId: string,
    status: Extract<GlobalEvent["payload"], { type: "session.status" }>["properties"]["status"],
    nowMs: number
  ): ReadonlyArray<RuntimeEvent> {
    if (status.type === "retry") {
      const activity = this.#of(this.#facts.rootOf(sessionId))
      if (activity.attempt === status.attempt) return []
      activity.attempt = status.attempt
      const retryAfterMs = Math.max(0, status.next - nowMs)
      const { message } = status
      const kind = kindOfRetry(message)
      return [{ type: "failed", ...this.at(sessionId), kind, message, recovering: true, retryAfterMs }]
    }
    if (!this.#isRoot(sessionId)) return []
    if (status.type === "idle") return this.foundIdle(sessionId)
    const activity = this.#of(sessionId)
    // `working` is published with the first text or tool call, which has a cause.
    activity.attempt = 0
    activity.busy = true
    return []
  }
}

const sizeOf = ({ cacheRead, cacheWrite, input, output, reasoning }: Tokens): number =>
  input + output + reasoning + cacheRead + cacheWrite

/** The kind of a failure that OpenCode waits out; a rate limit when the message says nothing known. */
export const kindOfRetry = (message: string) => {
  const kind = kindOfText(message)
  return kind === "other" ? "rate_limited" : kind
}
