/** What questions to humans, their answers and what these grant change in a run. */
import type { SessionId, Step } from "@reprise/protocol"
import { usedCost, usedTokens } from "../limits/usage.ts"
import { type Evolution, unchanged } from "../run/family.ts"
import type { EventOf } from "../run/journal.ts"
import { withWords } from "../run/ledger.ts"
import { withBase } from "../run/plan.ts"
import type { Limit } from "../run/question.ts"
import { refusalSeen } from "../run/refusals.ts"
import {
  nothing,
  nothingTold,
  type PhaseRun,
  type Run,
  underWay,
  withNotice,
  withoutWork,
  withPhase
} from "../run/state.ts"

const questionAsked = (run: Run, { question }: EventOf<"QuestionAsked">): Run => {
  const { origin, reason } = question.ask
  const asked: Run = {
    ...run,
    pending: { _tag: "Answer", question, under: question.kind === "prompt" ? run.pending : nothing },
    reason,
    ids: { ...run.ids, escalations: run.ids.escalations + 1 },
    prompts: run.prompts.filter((prompt) => prompt.promptId !== question.prompt?.promptId)
  }
  return origin === "limit" || origin === "quality" ? withNotice(asked, reason) : asked
}

/** So many withdrawn questions are remembered. */
const withdrawnKept = 20

const questionClosed = (run: Run, escalationId: EventOf<"QuestionAnswered">["escalationId"], how: string): Run => ({
  ...run,
  pending: underWay(run.pending),
  reason: undefined,
  lastClosed: { escalationId, how }
})

/** The agent made progress by itself: what was counted against its step is forgotten. */
const withoutAttempts = (phase: PhaseRun, step: Step): PhaseRun => ({
  ...phase,
  qualityRetries: 0,
  visits: { ...phase.visits, [step]: 0 },
  told: nothingTold
})

const stepResumed = (run: Run, event: EventOf<"StepResumed">): Run => {
  const resumed: Run = { ...run, status: "running", step: event.step ?? run.step }
  if (event.cause !== "agent-working") return resumed
  const { sessionId, step } = event
  const after: Run =
    step === undefined ? resumed : { ...withPhase(resumed, (phase) => withoutAttempts(phase, step)), attempt: 1 }
  return run.pending._tag === "Nothing" && sessionId !== undefined
    ? { ...after, pending: { _tag: "Agent", sessionId } }
    : after
}

/** How much more of each limit is granted: for the run's own limits, counted from what it has used. */
const grants: { readonly [Name in Limit]: (run: Run, step: Step) => Run } = {
  "run-steps": (run) => ({ ...run, granted: { ...run.granted, steps: run.steps + 1 } }),
  tokens: (run) => ({ ...run, granted: { ...run.granted, tokens: usedTokens(run) } }),
  cost: (run) => ({ ...run, granted: { ...run.granted, cost: usedCost(run) } }),
  // As many visits again as the limit allows, and at least one.
  "step-visits": (run, step) =>
    withPhase(run, (phase) => ({
      ...phase,
      visitsGranted: { ...phase.visitsGranted, [step]: Math.max(phase.visits[step] ?? 0, 1) }
    })),
  "review-cycles": (run) => withPhase(run, (phase) => ({ ...phase, reviewsGranted: phase.reviewsGranted + 1 })),
  "stalled-review": (run) => withPhase(run, (phase) => ({ ...phase, stalled: 0 })),
  "quality-retries": (run) => withPhase(run, (phase) => ({ ...phase, qualityRetries: 0 })),
  continuations: (run) => withPhase(run, (phase) => ({ ...phase, continuationsGranted: phase.continuations + 1 }))
}

const withIdle = (run: Run, sessionId: SessionId, idleSince: string | undefined): Run =>
  withPhase(run, (phase) => {
    const { author, reviewer } = phase
    if (author?.sessionId === sessionId) return { ...phase, author: { ...author, idleSince } }
    return reviewer?.sessionId === sessionId ? { ...phase, reviewer: { ...reviewer, idleSince } } : phase
  })

const wordsKept = (run: Run, { givenTo, words }: EventOf<"WordsKept">): Run => ({
  ...run,
  ledger: withWords(run.ledger, words, givenTo === undefined ? [] : [{ sessionId: givenTo }])
})

export const questionEvolution = {
  PromptReplied: unchanged,
  QuestionAsked: questionAsked,
  QuestionChanged: (run, { question }) =>
    run.pending._tag === "Answer" ? { ...run, pending: { ...run.pending, question } } : run,
  QuestionAnswered: (run, { by, choice, escalationId, via }) =>
    questionClosed(run, escalationId, `${by} answered '${choice}' through ${via}`),
  QuestionWithdrawn: (run, { byGate, escalationId, reason }) => ({
    ...questionClosed(run, escalationId, `it was withdrawn (${reason})`),
    withdrawn: byGate === true ? run.withdrawn : [...run.withdrawn, escalationId].slice(-withdrawnKept)
  }),
  AnswerOverruled: (run, { by, choice, escalationId, via }) =>
    withNotice(
      { ...run, withdrawn: run.withdrawn.filter((id) => id !== escalationId) },
      `${by} answered '${choice}' through ${via} to a question that was withdrawn before. What was said with it is kept.`
    ),
  StepWaiting: (run, { step }) => ({ ...run, status: "waiting", step: step ?? run.step }),
  StepResumed: stepResumed,
  AgentTookOver: (run, { sessionId, step }) => ({
    ...withPhase({ ...run, step, attempt: 1 }, (phase) => withoutAttempts(phase, step)),
    pending: { _tag: "Agent", sessionId }
  }),
  WorkSeen: (run, { sessionId, working }) => {
    const rested = withoutWork(withIdle(run, sessionId, working ? undefined : run.updatedAt), sessionId)
    return working ? { ...rested, working: [...rested.working, sessionId] } : rested
  },
  PromptSeen: (run, { prompt }) => ({ ...run, prompts: [...run.prompts, prompt] }),
  RefusalSeen: refusalSeen,
  AgentRested: (run) => ({ ...run, pending: nothing, prompts: [] }),
  WordsKept: wordsKept,
  LimitRaised: (run, { limit, step }) =>
    withNotice(grants[limit](run, step), `The limit '${limit}' of ${step} was granted again.`),
  HistoryAccepted: (run, { base }) =>
    withNotice(
      withPhase(run, (phase) =>
        phase.verified === undefined ? withBase(phase, base) : { ...phase, verified: undefined }
      ),
      `The history after ${base} was rewritten; it was accepted as it is. The review compares it with the commit at which the phase began.`
    ),
  AutoRetried: (run, { reason }) =>
    withNotice(
      withPhase(run, (phase) => ({
        ...phase,
        autoRetries: [...phase.autoRetries, reason],
        // The one before it has failed.
        ...(phase.autoRetries.length === 0 ? {} : { failedRetries: (phase.failedRetries ?? 0) + 1 })
      })),
      `Auto mode tries again: ${reason}`
    )
} satisfies Partial<Evolution>
