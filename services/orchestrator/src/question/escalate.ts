/** Asking a human, or in auto mode trying again in their place (docs/design/run-machine.md#the-run-machine-orchestrator). */
import {
  defined,
  type EscalationOption,
  type Evidence,
  escalationIdOf,
  type SessionId,
  type Step
} from "@reprise/protocol"
import { agentForStep } from "../agents/agentOf.ts"
import { sessionFor } from "../agents/session.ts"
import { redoMissing } from "../checkpoint/continuation.ts"
import { allTokens, usedCost } from "../limits/usage.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { willBeTold } from "../run/ledger.ts"
import {
  type EscalationRequest,
  enter,
  type Move,
  next,
  nextInPhase,
  type Outcome,
  outcome,
  type SessionUse
} from "../run/moves.ts"
import { currentTitle, phaseBegan } from "../run/plan.ts"
import type { Question, Retry } from "../run/question.ts"
import { refusalsText } from "../run/refusals.ts"
import { isReviewerOf } from "../run/reviewer.ts"
import { hasPlan, locationOf, placeOf } from "../run/standalone.ts"
import { type Author, isOpen, type PhaseRun, type Run } from "../run/state.ts"
import { isAuthorStep } from "../run/transitions.ts"
import { withdrawIfWorking } from "./autoResume.ts"
import {
  changeModel,
  checkpointOptions,
  continuationOptions,
  phaseGateOptions,
  planOptions,
  sessionOptions,
  stepOptions
} from "./options.ts"
import { grant } from "./retry.ts"

/** What the agents of the phase will be told in their next prompts. */
const nextWords = (run: Run): Pick<Evidence, "willBeTold"> => {
  const { ledger, phase } = run
  if (phase === undefined) return {}
  const author = phase.author?.state === "usable" ? phase.author.sessionId : undefined
  return willBeTold(ledger, phase.id, author, (sessionId) => isReviewerOf(run, phase, sessionId))
}

/** What is known of the agent that asks. */
type Asking = Pick<Author, "context" | "idleSince" | "lastLines">

const factsOf = ({ context, idleSince, lastLines }: Asking = {}): Evidence => defined({ lastLines, idleSince, context })

/** What a human is shown with a question, as far as the run knows it (docs/design/gate.md#the-gate-where-humans-answer). */
export const evidenceOf = (run: Run, asking: Asking | undefined, more: Evidence = {}): Evidence => {
  const { attempt, phase, planTitle, request } = run
  const used = { tokens: allTokens(run), cost: usedCost(run) }
  const said = { ...factsOf(asking), ...nextWords(run) }
  if (!hasPlan(run)) return { ...used, ...said, ...more }
  return {
    planPath: request.planPath,
    ...defined({ planTitle }),
    ...(phase === undefined ? {} : { phaseTitle: currentTitle(run) }),
    ...defined({ attempt }),
    ...said,
    ...(phase === undefined ? {} : { base: phaseBegan(phase) }),
    ...(phase?.verified === undefined ? {} : { commit: phase.verified }),
    ...(phase?.diffStat === undefined ? {} : { diffStat: phase.diffStat }),
    ...used,
    ...more
  }
}

/** The session that can be continued, or why there is none. */
type ContinueOffer = { readonly sessionId: SessionId } | { readonly why: string }

const continueOffer = (author: Author | undefined, request: EscalationRequest, retry: Retry): ContinueOffer => {
  if (request.noContinue !== undefined) return { why: request.noContinue }
  if (!isAuthorStep(retry.step)) return { why: `${retry.step} is not done by the author` }
  if (author === undefined) return { why: "the phase has no author's session yet" }
  return author.state === "usable"
    ? { sessionId: author.sessionId }
    : { why: author.why ?? "the state of the author's session is not known" }
}

/** Activity in the author's session makes a question about its work moot, but not a reviewer's question. */
const watchedSession = (author: Author | undefined, request: EscalationRequest, retry: Retry): SessionId | undefined =>
  request.origin !== "reviewer" && isAuthorStep(retry.step) && isOpen(author) ? author.sessionId : undefined

const kindOf = ({ origin }: EscalationRequest): Question["kind"] =>
  origin === "checkpoint" || origin === "continuation" || origin === "phase-gate" ? origin : "step"

/** Changing the model goes on as continue does, or else as fix does: it stands behind both. */
const withChangeModel = (options: ReadonlyArray<EscalationOption>, { changesModelOf }: EscalationRequest) => {
  if (changesModelOf === undefined) return options
  const behind = options.findIndex(({ name }) => name === "fix") + 1
  return [...options.slice(0, behind), changeModel, ...options.slice(behind)]
}

const optionsOf = (run: Run, request: EscalationRequest, offer: ContinueOffer): ReadonlyArray<EscalationOption> => {
  if (!hasPlan(run)) return sessionOptions("sessionId" in offer)
  const checkpoint = request.evidence?.checkpoint
  switch (request.origin) {
    case "checkpoint":
      return checkpoint === undefined ? stepOptions(false) : checkpointOptions(checkpoint)
    case "continuation":
      return continuationOptions
    case "phase-gate":
      return phaseGateOptions
    case "plan":
      return planOptions
    case "author":
    case "reviewer":
    case "quality":
    case "commit":
    case "limit":
    case "runtime":
    case "workspace":
    case "permission":
    case "question":
      return stepOptions("sessionId" in offer, { fixLabel: fixLabel(request), toAuthor: fixStartsAuthor(request) })
  }
}

/** What fix does where it starts no new author session; undefined: it starts one. */
const fixLabel = ({ retry, step }: EscalationRequest): string | undefined => {
  const to = retry?.step ?? step
  if (retry?.command !== undefined) return "try it again"
  if (to === "PHASE_COMPLETE") return "look at the working tree again"
  if (to === "REVIEW") return "review again in a new session"
  return isAuthorStep(to) ? undefined : "try it again"
}

/** Whether fix starts a fresh author, at least where more is said with it. */
const fixStartsAuthor = ({ retry, step }: EscalationRequest): boolean => {
  const to = retry?.withGuidance ?? retry?.step ?? step
  return retry?.command === undefined && to !== undefined && isAuthorStep(to)
}

const waitFor = (run: Run, step: Step, question: Question): RunEvents => {
  const { escalationId, sessionId } = question.ask
  return [
    { _tag: "QuestionAsked", question },
    {
      _tag: "StepWaiting",
      ...locationOf(run),
      step,
      ...defined({ sessionId }),
      escalationId
    }
  ]
}

/** The sessions that a human can open: first that of who asks. The session of a review that failed has ended. */
const sessionsShown = ({ phase }: Run, byReviewer: boolean, author: SessionId | undefined): Evidence => {
  if (!byReviewer) return author === undefined ? {} : { sessionId: author }
  const reviewer = phase?.reviewer?.sessionId
  return {
    ...defined({ sessionId: reviewer, authorSessionId: author })
  }
}

const nextEscalationId = (run: Run) => escalationIdOf(run.runId, run.ids.escalations + 1)

const askHuman = (run: Run, request: EscalationRequest): RunEvents => {
  const step = request.step ?? run.step ?? "PREPARE"
  const retry: Retry = { step, ...request.retry }
  const kind = kindOf(request)
  const author = run.phase?.author
  const offer = continueOffer(author, request, retry)
  const watch = watchedSession(author, request, retry)
  // The question names the session only if it can be continued; otherwise the evidence names it, as long as it is open.
  const sessionId = kind === "step" && "sessionId" in offer ? offer.sessionId : undefined
  const unavailable = kind === "step" && "why" in offer ? { continueUnavailable: offer.why } : {}
  // Whoever works in a session that is named makes the run go on. Missing work is checked again instead.
  const canBeOpened = isOpen(author) && (kind !== "continuation" || watch !== undefined)
  const byReviewer = request.origin === "reviewer"
  const shown =
    sessionId === undefined ? sessionsShown(run, byReviewer, canBeOpened ? author.sessionId : undefined) : {}
  return waitFor(run, step, {
    kind,
    ask: {
      _tag: "RaiseEscalation",
      escalationId: nextEscalationId(run),
      ...placeOf(run, step),
      ...defined({ sessionId }),
      origin: request.origin,
      reason: request.reason,
      options: withChangeModel(optionsOf(run, { ...request, step }, offer), request),
      ...defined({ items: request.items }),
      evidence: evidenceOf(run, byReviewer ? run.phase?.reviewer : author, {
        ...request.evidence,
        ...unavailable,
        ...shown
      })
    },
    retry,
    ...defined({ changesModelOf: request.changesModelOf, watch, brief: request.brief })
  })
}

const giveUpReason = (run: Run, reason: string): string => {
  const tried = run.phase?.autoRetries ?? []
  const list = [...tried, reason].map((text, index) => `${index + 1}. ${text}`).join(" ")
  return `Auto mode gave up after ${tried.length} retries: ${list}${refusalsText(run)}`
}

/** Continues the author's session, where a human could and the policy does; undefined: starts a new one. */
const continueUnattended = (
  run: Run,
  phase: PhaseRun,
  request: EscalationRequest,
  retry: Retry
): SessionUse | undefined => {
  const offer = continueOffer(phase.author, request, retry)
  if (!("sessionId" in offer)) return undefined
  const use = { _tag: "continue", sessionId: offer.sessionId, brief: request.brief } as const
  // The policy, unlike a human, chooses whoever the rules lead to.
  const agent = agentForStep(run, phase, retry.step, { _tag: "current" })
  const decision = sessionFor(run, phase, "unattended", agent)
  return decision.choice === "fresh" ? undefined : { ...use, decision }
}

/**
 * Auto mode takes no history in which a commit from before the phase is gone, and with it what was approved: the author has to
 * go on from where the phase began. Within the phase, everything is reviewed again.
 */
const retryOf = (run: Run, phase: PhaseRun, request: EscalationRequest): Retry => {
  const retry: Retry = { step: request.step ?? run.step ?? "EXECUTE", ...request.retry }
  const { base: _, ...withoutBase } = retry
  return phase.verified === undefined ? withoutBase : retry
}

/** As fix without guidance, counted per phase. When no retry is left, the run is aborted with every reason. */
const retryUnattended = (run: Run, request: EscalationRequest): Outcome => {
  const { phase } = run
  const { maxAutoRetries } = run.request.options.limits
  if (phase === undefined || request.final === true || phase.autoRetries.length >= maxAutoRetries) {
    return outcome([], { _tag: "Abort", reason: giveUpReason(run, request.reason) })
  }
  const retried: RunEvent = { _tag: "AutoRetried", reason: request.reason }
  if (request.origin === "continuation") return outcome([retried, ...redoMissing(run, phase)])
  const retry = retryOf(run, phase, request)
  return outcome(
    [retried],
    nextInPhase((run, phase) => {
      const use = continueUnattended(run, phase, request, retry)
      return use === undefined
        ? outcome([], { _tag: "Retry", retry, cause: "auto-retry" })
        : outcome(grant(retry), enter(retry.step, "auto-retry", use))
    })
  )
}

const unlessWorking: Move = next((run) => outcome(withdrawIfWorking(run)))

/** A checkpoint that is still open waits for a human in auto mode too (docs/design/continuation.md#checkpoint-types). */
export const escalateOrRetry = (run: Run, request: EscalationRequest): Outcome =>
  run.request.options.auto && request.origin !== "checkpoint"
    ? retryUnattended(run, request)
    : outcome(askHuman(run, request), unlessWorking)

/** The same question under a new id: an open step never waits for a closed question. */
export const askAgain = (run: Run, question: Question): Outcome =>
  outcome(
    waitFor(run, question.ask.step ?? run.step ?? "PREPARE", {
      ...question,
      ask: {
        ...question.ask,
        escalationId: nextEscalationId(run),
        evidence: { ...question.ask.evidence, ...nextWords(run) }
      }
    }),
    unlessWorking
  )

/** An agent's own request for a permission, or its question. */
export const askForAgent = (
  run: Run,
  question: Pick<Question, "prompt" | "watch">,
  ask: Pick<Question["ask"], "origin" | "reason" | "options" | "sessionId" | "evidence">
): RunEvents => {
  const step = run.step ?? "EXECUTE"
  return waitFor(run, step, {
    ...question,
    kind: "prompt",
    ask: { _tag: "RaiseEscalation", escalationId: nextEscalationId(run), ...placeOf(run, step), ...ask },
    retry: { step }
  })
}
