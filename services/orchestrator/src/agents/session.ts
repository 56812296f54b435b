/**
 * The author's session, and the reviewer's: continue it or begin a fresh one, where no human chooses
 * (docs/design/continuation.md#checkpoints-and-the-continuation-protocol), and what its end means. The choice and the
 * numbers it is based on are in `StepStarted.session`.
 */
import {
  type ContextFill,
  type ContinuationOptions,
  defined,
  type SessionDecision,
  type StepAgent
} from "@reprise/protocol"
import type { Author, PhaseRun, Run } from "../run/state.ts"

/**
 * `step`: the author's next step. `unattended`: auto mode, where a human would be asked. `checkpoint`: one was resolved.
 */
export type Occasion = "step" | "unattended" | "checkpoint"

/** What is known about the phase's author session. */
export interface Measured {
  readonly state: Author["state"] | "none"
  /** Why it is not usable. */
  readonly why?: string | undefined
  /** Why the agent of the step cannot go on in it: it is on another runtime. */
  readonly elsewhere?: string | undefined
  readonly contextTokens?: number | undefined
  /** The model's limit, if the runtime reports it. */
  readonly contextLimit?: number | undefined
  readonly ageMs?: number | undefined
  readonly failedContinuations: number
}

const percent = (part: number) => `${Math.round(part * 100)} %`
const hours = (ms: number) => `${(ms / 3_600_000).toFixed(1)} h`

const measuredFill = ({ contextLimit: limit, contextTokens: tokens }: Measured, options: ContinuationOptions) =>
  tokens === undefined ? undefined : fillOf({ tokens, ...defined({ limit }) }, options)

/** The first reason for a fresh author; undefined: nothing speaks against the session. */
const reasonForFresh = (occasion: Occasion, measured: Measured, options: ContinuationOptions): string | undefined => {
  const { ageMs, elsewhere, failedContinuations: failed, state, why } = measured
  const { maxContextFill, maxFailed, maxSessionAgeMs, unattended } = options
  if (state === "none") return "the phase has no author's session yet"
  if (state !== "usable" && state !== "moved") return why ?? "the state of the author's session is not known"
  if (occasion === "checkpoint") return "a checkpoint is always followed by a new session"
  if (occasion === "unattended" && unattended === "fresh")
    return "auto mode starts a new session (continuation.unattended)"
  if (elsewhere !== undefined) return elsewhere
  // Its conversation is told to a new runtime session, whose context is empty.
  if (state === "moved") return undefined
  if (maxFailed > 0 && failed >= maxFailed) return `${failed} continued turns failed, and the limit is ${maxFailed}`
  const fill = measuredFill(measured, options)
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
  const contextFill = measuredFill(measured, options)
  return {
    ...(contextFill === undefined ? {} : { contextFill: Math.round(contextFill * 1000) / 1000 }),
    ...defined({ contextTokens, ageMs }),
    failedContinuations
  }
}

const whyMoved = ({ why }: Measured): string => `${why}: the session goes on with what was saved of it`

export const chooseSession = (
  occasion: Occasion,
  measured: Measured,
  options: ContinuationOptions
): SessionDecision => {
  const why = reasonForFresh(occasion, measured, options)
  return {
    choice: why === undefined ? "continue" : "fresh",
    why: why ?? (measured.state === "moved" ? whyMoved(measured) : "the session is usable and within its limits"),
    ...numbersOf(measured, options)
  }
}

/** A choice that a human or the plan has made, with the same numbers. */
export const chosenSession = (
  run: Run,
  phase: PhaseRun,
  choice: SessionDecision["choice"],
  why: string
): SessionDecision => ({
  choice,
  why,
  ...numbersOf(measuredOf(run, phase), run.request.options.continuation)
})

const measuredIn = (run: Run, session: Pick<Author, "since" | "context"> | undefined) => {
  const ageMs = session?.since === undefined ? Number.NaN : Date.parse(run.updatedAt) - Date.parse(session.since)
  return {
    contextTokens: session?.context?.tokens,
    contextLimit: session?.context?.limit,
    ageMs: Number.isNaN(ageMs) ? undefined : ageMs
  }
}

const measuredOf = (run: Run, { author, failedContinuations }: PhaseRun): Measured => ({
  state: author?.state ?? "none",
  why: author?.why,
  ...measuredIn(run, author),
  failedContinuations
})

/** A session stays on its runtime. */
const elsewhere = ({ agent }: Partial<Author>, { role, runtime }: StepAgent): string | undefined =>
  agent === undefined || agent.runtime === runtime
    ? undefined
    : `the ${role} is on ${runtime}, and the session on ${agent.runtime}`

/** `agent`: who does the step that begins. */
export const sessionFor = (run: Run, phase: PhaseRun, occasion: Occasion, agent: StepAgent): SessionDecision => {
  const measured = { ...measuredOf(run, phase), elsewhere: elsewhere(phase.author ?? {}, agent) }
  return chooseSession(occasion, measured, run.request.options.continuation)
}

/** The same for the phase's reviewer. undefined: it has no session that could be continued, so that nothing is chosen. */
export const reviewerSessionFor = (run: Run, { reviewer }: PhaseRun, agent: StepAgent): SessionDecision | undefined => {
  if (reviewer === undefined) return undefined
  const measured: Measured = {
    ...measuredIn(run, reviewer),
    state: "usable",
    elsewhere: elsewhere(reviewer, agent),
    failedContinuations: 0
  }
  return chooseSession("step", measured, run.request.options.continuation)
}

/** How full a conversation is, from 0 to 1; undefined when its model's context window is not known. */
export const fillOf = (
  { limit, tokens }: ContextFill,
  { contextWindow }: Pick<ContinuationOptions, "contextWindow">
): number | undefined => {
  const window = limit ?? contextWindow
  return window === 0 ? undefined : tokens / window
}
