/** Asking a human, or in auto mode trying again in their place (run-machine: ESCALATE). */

import { type EscalationOption, type Evidence, escalationIdOf, type SessionId, type Step } from "@reprise/protocol"
import { evolveStarted } from "../actor/evolve.ts"
import type { RunEvent, RunEvents } from "../actor/journal.ts"
import { enter, fresh, type How, type Outcome, outcome, type Trouble } from "../actor/moves.ts"
import type { Author, PhaseRun, Run } from "../actor/state.ts"
import { type Cause, isAuthorStep } from "../actor/transitions.ts"
import { sessionFor } from "../author/session.ts"
import { beginContinuation, continuationOf, redoMissing } from "../checkpoint/continuation.ts"
import { isContinued } from "../checkpoint/prompt.ts"
import { allTokens, spentCost } from "../control/usage.ts"
import { finishPhase } from "../phase/finish.ts"
import { currentTitle, placeOf } from "../phase/plan.ts"
import {
  checkpointOptions,
  continuationOptions,
  phaseGateOptions,
  planOptions,
  type Question,
  type Retry,
  stepOptions
} from "./question.ts"

/** The session that can be continued, or why there is none (run-machine: When continue is offered). */
type Offer = { readonly sessionId: SessionId } | { readonly why: string }

const offerOf = (author: Author | undefined, trouble: Trouble, retry: Retry): Offer => {
  if (trouble.noContinue !== undefined) return { why: trouble.noContinue }
  if (!isAuthorStep(retry.step)) return { why: `${retry.step} is not done by the author` }
  if (author === undefined) return { why: "the phase has no author's session yet" }
  return author.state === "usable"
    ? { sessionId: author.sessionId }
    : { why: author.why ?? "the state of the author's session is not known" }
}

/** Activity in the author's session answers a question about its work; a reviewer's question it does not answer. */
const watchedBy = (author: Author | undefined, trouble: Trouble, retry: Retry): SessionId | undefined =>
  trouble.origin !== "reviewer" && isAuthorStep(retry.step) && author !== undefined && author.state !== "ended"
    ? author.sessionId
    : undefined

const kindOf = ({ origin }: Trouble): Question["kind"] =>
  origin === "checkpoint" || origin === "continuation" || origin === "phase-gate" ? origin : "step"

const optionsOf = (trouble: Trouble, offer: Offer): ReadonlyArray<EscalationOption> => {
  const checkpoint = trouble.evidence?.checkpoint
  switch (trouble.origin) {
    case "checkpoint":
      return checkpoint === undefined ? stepOptions(false) : checkpointOptions(checkpoint)
    case "continuation":
      return continuationOptions
    case "phase-gate":
      return phaseGateOptions
    case "plan":
      return planOptions
    default:
      return stepOptions("sessionId" in offer, againLabel(trouble))
  }
}

/** What fix does where no author's session is started. */
const againLabel = ({ retry, step }: Trouble): string | undefined => {
  const to = retry?.step ?? step
  if (retry?.command !== undefined) return "try it again"
  if (to === "PHASE_COMPLETE") return "look at the working tree again"
  if (to === "REVIEW") return "review again in a new session"
  return isAuthorStep(to) ? undefined : "try it again"
}

const waiting = (run: Run, step: Step, question: Question): RunEvents => {
  const { escalationId, sessionId } = question.ask
  return [
    { _tag: "QuestionAsked", question },
    {
      _tag: "StepWaiting",
      ...placeOf(run),
      step,
      ...(sessionId === undefined ? {} : { sessionId }),
      escalationId
    }
  ]
}

const nextEscalation = (run: Run) => escalationIdOf(run.runId, run.ids.escalations + 1)

const ask = (run: Run, trouble: Trouble): RunEvents => {
  const step = trouble.step ?? run.step ?? "PREPARE"
  const retry: Retry = { step, ...trouble.retry }
  const kind = kindOf(trouble)
  const author = run.phase?.author
  const offer = offerOf(author, trouble, retry)
  const watch = watchedBy(author, trouble, retry)
  // Only a session that can be continued is the question's own; any other is there to be looked at.
  const sessionId = kind === "step" && "sessionId" in offer ? offer.sessionId : undefined
  const unavailable = kind === "step" && "why" in offer ? { continueUnavailable: offer.why } : {}
  const seen = sessionId === undefined && author !== undefined ? { sessionId: author.sessionId } : {}
  return waiting(run, step, {
    kind,
    ask: {
      _tag: "RaiseEscalation",
      escalationId: nextEscalation(run),
      ...placeOf(run),
      step,
      ...(sessionId === undefined ? {} : { sessionId }),
      origin: trouble.origin,
      reason: trouble.reason,
      options: optionsOf({ ...trouble, step }, offer),
      ...(trouble.items === undefined ? {} : { items: trouble.items }),
      evidence: evidenceOf(run, { ...trouble.evidence, ...unavailable, ...seen })
    },
    retry,
    ...(watch === undefined ? {} : { watch }),
    ...(trouble.brief === undefined ? {} : { brief: trouble.brief })
  })
}

const gaveUp = (phase: PhaseRun | undefined, reason: string): string => {
  const tried = phase?.autoRetries ?? []
  const list = [...tried, reason].map((text, index) => `${index + 1}. ${text}`).join(" ")
  return `Auto mode gave up after ${tried.length} retries: ${list}`
}

/** The author's session, where a human could continue it and the policy does; undefined: begin anew. */
const unattended = (run: Run, phase: PhaseRun, trouble: Trouble, retry: Retry): How | undefined => {
  const offer = offerOf(phase.author, trouble, retry)
  if (retry.command !== undefined || !("sessionId" in offer)) return undefined
  const session = sessionFor(run, phase, "unattended")
  return session.choice === "fresh"
    ? undefined
    : { _tag: "continue", sessionId: offer.sessionId, brief: trouble.brief, session }
}

/** As fix, without guidance, and counted per phase; then the run is aborted with every reason there was. */
const inHumansPlace = (run: Run, trouble: Trouble): Outcome => {
  const { phase } = run
  const { maxAutoRetries } = run.request.options.limits
  if (phase === undefined || trouble.final === true || phase.autoRetries.length >= maxAutoRetries) {
    return outcome([], { _tag: "Abort", reason: gaveUp(phase, trouble.reason) })
  }
  const retried: RunEvent = { _tag: "AutoRetried", reason: trouble.reason }
  if (trouble.origin === "continuation") return outcome([retried, ...redoMissing(run, phase)])
  const step = trouble.step ?? run.step ?? "EXECUTE"
  const retry: Retry = { step, ...trouble.retry }
  const goOn = unattended(run, phase, trouble, retry)
  return goOn === undefined
    ? outcome([retried], { _tag: "Retry", retry, cause: "auto-retry" })
    : outcome([retried, ...grant(retry)], enter(retry.step, "auto-retry", goOn))
}

/** A checkpoint that is still open waits for a human in auto mode too (continuation: Checkpoint types). */
export const raise = (run: Run, trouble: Trouble): Outcome =>
  run.request.options.auto && trouble.origin !== "checkpoint" ? inHumansPlace(run, trouble) : outcome(ask(run, trouble))

/** The same question under a new id: an open step never waits for a closed question. */
export const askAgain = (run: Run, question: Question): RunEvents =>
  waiting(run, question.ask.step ?? run.step ?? "PREPARE", {
    ...question,
    ask: { ...question.ask, escalationId: nextEscalation(run) }
  })

/** An agent's own request for a permission, or its question. */
export const askForAgent = (
  run: Run,
  question: Pick<Question, "prompt" | "watch">,
  ask: Pick<Question["ask"], "origin" | "reason" | "options" | "sessionId" | "evidence">
): RunEvents => {
  const step = run.step ?? "EXECUTE"
  return waiting(run, step, {
    ...question,
    kind: "prompt",
    ask: { _tag: "RaiseEscalation", escalationId: nextEscalation(run), ...placeOf(run), step, ...ask },
    retry: { step }
  })
}

/** Continue is no longer among the choices of an open question, and why. */
export const withoutContinue = (question: Question, why: string): Question => {
  const { sessionId: _, ...ask } = question.ask
  return {
    ...question,
    ask: {
      ...ask,
      options: ask.options.filter((option) => option.name !== "continue-session"),
      evidence: { ...ask.evidence, continueUnavailable: why }
    }
  }
}

/** What a human is shown with a question, as far as the run knows it (gate: What a question shows). */

export const evidenceOf = (run: Run, more: Evidence = {}): Evidence => {
  const { attempt, phase, planTitle, request } = run
  return {
    planPath: request.planPath,
    ...(planTitle === undefined ? {} : { planTitle }),
    ...(phase === undefined ? {} : { phaseTitle: currentTitle(run) }),
    ...(attempt === undefined ? {} : { attempt }),
    ...(phase?.lastLines === undefined ? {} : { lastLines: phase.lastLines }),
    ...(phase === undefined ? {} : { base: phase.base }),
    ...(phase?.verified === undefined ? {} : { commit: phase.verified }),
    ...(phase?.diffStat === undefined ? {} : { diffStat: phase.diffStat }),
    tokens: allTokens(run),
    cost: spentCost(run),
    ...more
  }
}

/** What was in the way is granted: the limit anew, or the history as it is. */
export const grant = ({ base, limit, step }: Retry): RunEvents => [
  ...(limit === undefined ? [] : [{ _tag: "LimitRaised" as const, limit, step }]),
  ...(base === undefined ? [] : [{ _tag: "HistoryAccepted" as const, base }])
]

/**
 * What `fix` and auto mode do: ask the workspace again for what it could not do, or begin the step again with a fresh
 * agent. Where tasks are done, the author gets them as a verified record (run-machine: ESCALATE, fix).
 */
export const retryFresh = (before: Run, retry: Retry, cause: Cause): Outcome => {
  const granted = grant(retry)
  const run = granted.reduce(evolveStarted, before)
  const { phase } = run
  if (retry.command !== undefined) return outcome([...granted, { _tag: "WorkspaceAsked", command: retry.command }])
  if (phase === undefined) return outcome(granted)
  if (retry.step === "PHASE_COMPLETE") return outcome([...granted, finishPhase(run, phase)])
  if (!isAuthorStep(retry.step) || !isContinued(phase)) return outcome(granted, enter(retry.step, cause, fresh))
  const handed = beginContinuation(run, phase, continuationOf(run, phase, retry.step, cause))
  return { ...handed, events: [...granted, ...handed.events] }
}
