/**
 * Continue or fresh, where no human chooses (continuation): from what was measured of the author's session and what the
 * run's options allow. Pure; the choice and its numbers are in `StepStarted.session`.
 */

import { type ContinuationOptions, type Role, reviewKey, type SessionDecision } from "@reprise/protocol"
import type { InputOf, RunInput } from "../actor/inputs.ts"
import type { RunEvents } from "../actor/journal.ts"
import type { Author, PhaseRun, Run } from "../actor/state.ts"
import { withoutContinue } from "../question/escalate.ts"

/**
 * `step`: the next step of the same author. `unattended`: auto mode, where a human would be asked. `checkpoint`: one was
 * resolved.
 */
export type Occasion = "step" | "unattended" | "checkpoint"

/** What is known of the phase's author session. */
export interface Measured {
  readonly state: Author["state"] | "none"
  /** Why it is not usable. */
  readonly why?: string | undefined
  readonly contextTokens?: number | undefined
  /** Of the model, where the runtime tells. */
  readonly contextLimit?: number | undefined
  readonly ageMs?: number | undefined
  readonly failedContinuations: number
}

const percent = (part: number) => `${Math.round(part * 100)} %`
const hours = (ms: number) => `${(ms / 3_600_000).toFixed(1)} h`

/** From 0 to 1; undefined when nothing was measured. */
const fillOf = ({ contextLimit, contextTokens }: Measured, { contextWindow }: ContinuationOptions) => {
  const window = contextLimit ?? contextWindow
  return contextTokens === undefined || window === 0 ? undefined : contextTokens / window
}

/** Why a fresh author is better; undefined: nothing speaks against the session. The first reason counts. */
const against = (occasion: Occasion, measured: Measured, options: ContinuationOptions): string | undefined => {
  const { ageMs, failedContinuations: failed, state, why } = measured
  const { maxContextFill, maxFailed, maxSessionAgeMs, unattended } = options
  if (state === "none") return "the phase has no author's session yet"
  if (state !== "usable") return why ?? "the state of the author's session is not known"
  if (occasion === "checkpoint") return "what follows a checkpoint is done by a fresh author"
  if (occasion === "unattended" && unattended === "fresh") return "auto mode begins anew (continuation.unattended)"
  if (maxFailed > 0 && failed >= maxFailed) return `${failed} continued turns failed, and the limit is ${maxFailed}`
  const fill = fillOf(measured, options)
  if (fill !== undefined && maxContextFill > 0 && fill > maxContextFill) {
    return `the context is ${percent(fill)} full, and the limit is ${percent(maxContextFill)}`
  }
  if (ageMs !== undefined && maxSessionAgeMs > 0 && ageMs > maxSessionAgeMs) {
    return `the session is ${hours(ageMs)} old, and the limit is ${hours(maxSessionAgeMs)}`
  }
  return undefined
}

const numbersOf = (measured: Measured, options: ContinuationOptions): Omit<SessionDecision, "choice" | "why"> => {
  const { ageMs, contextTokens, failedContinuations } = measured
  const contextFill = fillOf(measured, options)
  return {
    ...(contextFill === undefined ? {} : { contextFill: Math.round(contextFill * 1000) / 1000 }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(ageMs === undefined ? {} : { ageMs }),
    failedContinuations
  }
}

export const chooseSession = (
  occasion: Occasion,
  measured: Measured,
  options: ContinuationOptions
): SessionDecision => {
  const why = against(occasion, measured, options)
  return {
    choice: why === undefined ? "continue" : "fresh",
    why: why ?? "the session is usable and within its limits",
    ...numbersOf(measured, options)
  }
}

/** What a human, or the plan's course, has decided, with the same numbers. */
export const decided = (
  run: Run,
  phase: PhaseRun,
  choice: SessionDecision["choice"],
  why: string
): SessionDecision => ({
  choice,
  why,
  ...numbersOf(measuredOf(run, phase), run.request.options.continuation)
})

const measuredOf = (run: Run, { author, failedContinuations }: PhaseRun): Measured => {
  const ageMs = author?.since === undefined ? Number.NaN : Date.parse(run.updatedAt) - Date.parse(author.since)
  return {
    state: author?.state ?? "none",
    why: author?.why,
    contextTokens: author?.context?.tokens,
    contextLimit: author?.context?.limit,
    ageMs: Number.isNaN(ageMs) ? undefined : ageMs,
    failedContinuations
  }
}

export const sessionFor = (run: Run, phase: PhaseRun, occasion: Occasion): SessionDecision =>
  chooseSession(occasion, measuredOf(run, phase), run.request.options.continuation)

/** What is recorded of an event whether or not it moves the machine: what turns cost, which sessions there are. */

const roleOf = (run: Run, { phase, role, turnId }: InputOf<"TurnCompleted" | "TurnFailed">): Role =>
  role ?? (phase !== undefined && turnId.startsWith(`${reviewKey(run.runId, phase)}-`) ? "reviewer" : "author")

/** Once for each turn, however often and late it is reported. */
const countTurn = (run: Run, event: InputOf<"TurnCompleted" | "TurnFailed">): RunEvents =>
  run.counted.includes(event.turnId)
    ? []
    : [
        {
          _tag: "TurnCounted",
          turnId: event.turnId,
          ...(event.phase === undefined ? {} : { phase: event.phase }),
          role: roleOf(run, event),
          tokens: event.tokens,
          cost: event.cost
        }
      ]

type SessionEnd = InputOf<"SessionExpired" | "SessionCompleted" | "SessionAborted" | "SessionArchived">

const endings: Readonly<Record<SessionEnd["_tag"], string>> = {
  SessionExpired: "the session has expired",
  SessionCompleted: "the session was completed",
  SessionAborted: "the session was aborted",
  SessionArchived: "the session was archived"
}

/** A session that has ended is not continued: an open question that offers it is changed. */
const sessionEnded = (run: Run, { _tag, sessionId }: SessionEnd): RunEvents => {
  const { pending, phase } = run
  const alive = phase?.sessions.includes(sessionId) === true
  const newest = phase?.author?.sessionId === sessionId && phase.author.state !== "ended"
  if (!alive && !newest) return []
  const why = endings[_tag]
  const question = pending._tag === "Answer" ? pending.question : undefined
  const offered = question?.kind === "step" && question.ask.sessionId === sessionId
  return [
    { _tag: "SessionLost", sessionId, why },
    ...(question !== undefined && offered
      ? [{ _tag: "QuestionChanged" as const, question: withoutContinue(question, why) }]
      : [])
  ]
}

export const bookkeeping = (run: Run, input: RunInput): RunEvents => {
  switch (input._tag) {
    case "TurnCompleted":
    case "TurnFailed":
      return countTurn(run, input)
    case "SessionCreated":
      return [{ _tag: "SessionSeen", kind: "created", sessionId: input.sessionId }]
    case "SessionReused":
      return [
        {
          _tag: "SessionSeen",
          kind: "reused",
          sessionId: input.sessionId,
          ...(input.turnId === undefined ? {} : { turnId: input.turnId }),
          reason: input.reason
        }
      ]
    case "SessionReplaced":
      return [{ _tag: "SessionSeen", kind: "replaced", sessionId: input.sessionId, reason: input.reason }]
    case "SessionExpired":
    case "SessionCompleted":
    case "SessionAborted":
    case "SessionArchived":
      return sessionEnded(run, input)
    case "CommandRefused":
      return [{ _tag: "Noted", text: `${input.command} was refused: ${input.reason}` }]
    default:
      return []
  }
}
