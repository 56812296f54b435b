/**
 * Watches one prompt while it runs: tells of its work, its progress and its questions, and says when it must stop.
 * Events are for speed; at every tick the runtime is asked (sessions: The port).
 */
import type { WorkFault } from "@reprise/actor"
import type { AgentErrorKind, AgentRuntimeShape, Inspection, PendingPrompt, RuntimeEvent } from "@reprise/agent"
import { addTokens, noTokens, type SessionId, type Tokens } from "@reprise/protocol"
import { Clock, Effect, Fiber, Semaphore, Stream } from "effect"
import type { RunPrompt, SessionReport } from "../domain/messages.ts"
import { failureKindOf } from "./failureKind.ts"
import { optionsOf } from "./promptOptions.ts"
import type { Reporting } from "./reportTo.ts"

/** Why a prompt must not go on. */
export interface Limit {
  readonly kind: Extract<SessionReport, { readonly _tag: "RecordFailed" }>["kind"]
  readonly message: string
  readonly waitedMs?: number
}

const progressEveryMs = 1000
const longestTickMs = 5000

const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined

const totalOf = (tokens: Tokens): number =>
  tokens.input + tokens.output + tokens.reasoning + tokens.cacheRead + tokens.cacheWrite

const minutes = (ms: number): string => (ms >= 120_000 ? `${Math.round(ms / 60_000)} minutes` : `${ms / 1000} s`)

/** What distinguishes a session from itself a moment ago. */
const traceOf = ({ lastMessage, messageCount, tokens }: Inspection): string =>
  `${messageCount} ${totalOf(tokens)} ${lastMessage?.id} ${lastMessage?.finished}`

export const makePromptWatch = Effect.fnUntraced(function* (
  work: RunPrompt,
  runtime: AgentRuntimeShape,
  sessionId: SessionId,
  { show, tell }: Reporting,
  maxWaitMs: number
) {
  const { limits, number, runtimeSessionId, turnId } = work
  const inactivityMs = positive(limits.inactivityMs)
  const wallMs = positive(limits.wallMs)
  const maxTokens = positive(limits.maxTokens)
  const place = {
    runId: work.runId,
    sessionId,
    turnId,
    role: work.role,
    ...(work.phase === undefined ? {} : { phase: work.phase }),
    ...(work.step === undefined ? {} : { step: work.step })
  }
  const startedMs = yield* Clock.currentTimeMillis
  let activeMs = startedMs
  let askedMs: number | undefined
  let waitedForHumanMs = 0
  let recovering: { readonly sinceMs: number; readonly kind: AgentErrorKind } | undefined
  let toldWorking = work.kind !== "work" && work.kind !== "continuation"
  let shownMs = 0
  let trace = ""
  let tokens: Tokens = noTokens
  const asked = new Set<string>()

  const touch = (now: number) => {
    activeMs = now
    recovering = undefined
  }

  /** The time that a human takes is nobody's silence. */
  const waiting = (now: number) => {
    if (asked.size > 0) askedMs ??= now
    else if (askedMs !== undefined) {
      waitedForHumanMs += now - askedMs
      askedMs = undefined
      activeMs = now
    }
  }

  const prompting = Effect.fnUntraced(function* (prompt: PendingPrompt, now: number) {
    if (asked.has(prompt.promptId)) return
    asked.add(prompt.promptId)
    waiting(now)
    const { kind, promptId, text } = prompt
    yield* tell(`asks.${promptId}`, { _tag: "RecordPrompting", promptId, kind, text, options: optionsOf(prompt) })
  })

  const answered = Effect.fnUntraced(function* (promptId: string, now: number) {
    if (!asked.delete(promptId)) return
    waiting(now)
    yield* tell(`answered.${promptId}`, { _tag: "RecordPromptGone", promptId })
  })

  const recover = Effect.fnUntraced(function* (kind: AgentErrorKind, message: string, now: number) {
    recovering ??= { sinceMs: now, kind }
    yield* tell(`recovers.${kind}`, { _tag: "RecordRecovering", turnId, number, kind: failureKindOf(kind), message })
  })

  const isOurs = ({ causePromptId }: RuntimeEvent) =>
    causePromptId === undefined || causePromptId === work.identity.messageId

  // One after the other: an answer is told after the work that led to it, also when the broker is away for a moment.
  const telling = yield* Semaphore.make(1)
  const working = (evidence: string) =>
    telling.withPermits(1)(
      Effect.suspend(() =>
        toldWorking
          ? Effect.void
          : Effect.map(tell("works", { _tag: "RecordWorking", turnId, number, evidence }), () => {
              toldWorking = true
            })
      )
    )

  const observe = Effect.fnUntraced(function* (event: RuntimeEvent) {
    const now = yield* Clock.currentTimeMillis
    switch (event.type) {
      case "working":
        touch(now)
        return isOurs(event) ? yield* working(event.evidence) : undefined
      case "progress": {
        touch(now)
        if (!isOurs(event)) return
        tokens = event.tokens
        if (now - shownMs < progressEveryMs) return
        shownMs = now
        const tool = event.tool === undefined ? {} : { tool: event.tool }
        return yield* show({ _tag: "TurnProgress", ...place, ...tool, tokens: addTokens(work.spent, tokens) })
      }
      case "prompting":
        return yield* prompting(event, now)
      case "replied":
        return yield* answered(event.promptId, now)
      case "failed":
        return event.recovering ? yield* recover(event.kind, event.message, now) : undefined
      case "idle":
      case "gone":
        return
    }
  })

  /** What the events may have missed. A runtime that does not answer is the prompt's own business. */
  const ask = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const pending = yield* runtime.pendingPrompts(work.directory)
    const mine = pending.filter((prompt) => prompt.sessionId === runtimeSessionId)
    for (const prompt of mine) yield* prompting(prompt, now)
    for (const promptId of [...asked]) {
      if (!mine.some((prompt) => prompt.promptId === promptId)) yield* answered(promptId, now)
    }
    const inspection = yield* runtime.inspect(runtimeSessionId)
    const { state } = inspection
    if (traceOf(inspection) !== trace) {
      trace = traceOf(inspection)
      touch(now)
    }
    if (state._tag === "retrying") yield* recover(state.kind, state.message, now)
  }).pipe(Effect.catchTag("AgentError", () => Effect.void))

  const limitAt = (now: number): Limit | undefined => {
    const used = totalOf(work.spent) + totalOf(tokens)
    if (maxTokens !== undefined && used > maxTokens) {
      return { kind: "budget", message: `The turn used ${used} tokens; its budget is ${maxTokens}.` }
    }
    if (recovering !== undefined) {
      const waitedMs = now - recovering.sinceMs
      if (waitedMs <= maxWaitMs) return undefined
      const message = `The runtime tried again for ${minutes(waitedMs)} without success.`
      return { kind: failureKindOf(recovering.kind), message, waitedMs }
    }
    if (asked.size > 0) return undefined
    if (wallMs !== undefined && now - Date.parse(work.turnStartedAt) - work.turnWaitedMs - waitedForHumanMs > wallMs) {
      return { kind: "timeout", message: `The turn took longer than its limit of ${minutes(wallMs)}.` }
    }
    return inactivityMs !== undefined && now - activeMs > inactivityMs
      ? { kind: "timeout", message: `The agent showed no activity for ${minutes(inactivityMs)}.` }
      : undefined
  }

  const tickMs = Math.max(20, Math.min(longestTickMs, ...[inactivityMs, wallMs].map((ms) => (ms ?? Infinity) / 4)))
  const ticks = Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(`${tickMs} millis`)
      yield* ask
      const limit = limitAt(yield* Clock.currentTimeMillis)
      if (limit !== undefined) return limit
    }
  })

  // Listened to before the prompt is sent, so that its first event is not missed.
  const events = yield* runtime.events.pipe(
    Stream.filter((event) => event.sessionId === runtimeSessionId),
    Stream.runForEach(observe),
    Effect.andThen(Effect.never),
    Effect.forkScoped({ startImmediately: true })
  )

  return {
    /** Ends when the prompt must stop, and never by itself. */
    limit: Effect.raceFirst(Fiber.join(events), ticks) satisfies Effect.Effect<Limit, WorkFault>,
    /** An agent may be done before it was seen working. */
    worked: working("answer"),
    /** What the prompt has used so far, as far as it was seen. */
    tokens: () => tokens,
    /** How long it has waited for a human so far; nothing when it never did. */
    waited: (): { humanMs?: number } => (waitedForHumanMs === 0 ? {} : { humanMs: waitedForHumanMs })
  }
})
