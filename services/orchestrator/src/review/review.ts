/** Reviews: asked for, and what a verdict leads to (docs/design/sessions.md#reviews-reviewer). */
import {
  type AgentChoice,
  defined,
  type FailureKind,
  type Item,
  otherModelMayHelp,
  passesByItself,
  type SessionId,
  type Verdict
} from "@reprise/protocol"
import { agentOf } from "../agents/agentOf.ts"
import { agentSetup } from "../agents/setup.ts"
import { budgetReached } from "../limits/limits.ts"
import { turnLimits } from "../limits/turnLimits.ts"
import { plannedText, stepTask } from "../prompt/author.ts"
import { closeReview } from "../run/end.ts"
import type { Evolution } from "../run/family.ts"
import type { InputOf } from "../run/inputs.ts"
import type { EventOf, RunEvent, RunEvents } from "../run/journal.ts"
import { afterGiving, decisionLine, decisionsOf, newestId, newTo, promptText, wordsFor } from "../run/ledger.ts"
import { type EscalationRequest, enter, escalate, fresh as freshSession, type Outcome, outcome } from "../run/moves.ts"
import { lastVerified, phaseBegan, plannedPhase, reviewFile, sameCommit } from "../run/plan.ts"
import { isReviewer } from "../run/reviewer.ts"
import {
  nothing,
  type Pending,
  type PhaseRun,
  type Reviewer,
  type Run,
  underWay,
  withNotice,
  withPhase
} from "../run/state.ts"
import { withVendorAdvice } from "../run/vendorAdvice.ts"

/** `fresh`: why the reviewer forgets its session first, so that this review begins in a new one. */
export const startReview = (run: Run, phase: PhaseRun, fresh?: string): RunEvents => {
  const { prompts } = run.request.options
  const planned = plannedPhase(run, phase.id)
  const asked: RunEvent = {
    _tag: "ReviewAsked",
    command: {
      _tag: "RequestReview",
      runId: run.runId,
      phase: phase.id,
      commit: lastVerified(phase),
      base: phaseBegan(phase),
      ...defined({ diffStat: phase.diffStat }),
      ...(planned === undefined ? {} : { planned: plannedText(planned) }),
      reviewPath: reviewFile(run, phase),
      planPath: run.request.planPath,
      cycle: phase.reviewCycles + 1,
      ...agentSetup(run, agentOf(run, "reviewer")),
      limits: turnLimits(run),
      words: wordsFor(run.ledger, "reviewer", phase.id).map(({ given, id, ...entry }) => ({
        id,
        from: entry.from,
        text: promptText(entry),
        givenTo: given.map(({ sessionId }) => sessionId)
      })),
      decisions: decisionsOf(run.ledger).map((entry) => ({ id: entry.id, text: decisionLine(entry, phase.id) })),
      findings: phase.items,
      remarks: phase.remarks ?? [],
      prompts
    }
  }
  return fresh === undefined ? [asked] : [closeReview(phase, false, fresh), asked]
}

const humanRequired = (items: ReadonlyArray<Item>) => items.filter((item) => item.action === "human_required")

/** P0 and P1 forbid an approval, by the words that reviewers are given; so ready beside one of them is no approval. */
const isApproval = ({ items, readiness }: Verdict): boolean =>
  readiness === "ready" && items.every(({ priority }) => priority === "P2")

/** Why continue is not offered after a review. */
const notTheAuthors = "the reviewer asked, and its session is not the author's"

/** Verdicts in a row without progress after which a human is asked (docs/design/sessions.md#reviews-reviewer). */
const stalledAt = 2

/** Whether a human said something during the review, with a permission that they granted, that the reviewer has not read. */
const hasUnread = (run: Run, phase: PhaseRun, accepted: EventOf<"VerdictAccepted">): boolean => {
  const { reviewer } = phaseAfterVerdict(phase, accepted, run.updatedAt)
  const ledger = givenToReviewer(run, accepted.sessionId)
  return (
    reviewer?.sessionId !== undefined && newTo(wordsFor(ledger, "reviewer", phase.id), reviewer.sessionId).length > 0
  )
}

/** In this order: approved, a human is needed, something to fix, nothing to act on. */
export const verdictReached = (run: Run, phase: PhaseRun, event: InputOf<"VerdictReached">): Outcome => {
  const { commit, cycle, verdict } = event
  const accepted = {
    _tag: "VerdictAccepted" as const,
    verdict,
    commit,
    cycle,
    ...defined({ sessionId: event.sessionId, context: event.context, lastLines: event.lastLines })
  }
  const { items, readiness, summary } = verdict
  if (!sameCommit(commit, lastVerified(phase))) {
    return outcome([accepted], enter("REVIEW", "verdict-of-another-commit"))
  }
  if (isApproval(verdict)) {
    return hasUnread(run, phase, accepted)
      ? outcome(
          [accepted, { _tag: "LimitRaised", limit: "review-cycles", step: "REVIEW" }],
          enter("REVIEW", "words-unread")
        )
      : outcome([accepted], enter("PHASE_GATE", "verdict-ready"))
  }
  const forHuman = humanRequired(items)
  if (forHuman.length > 0) {
    return outcome(
      [accepted],
      escalate({
        origin: "reviewer",
        reason: `The review needs a human for ${forHuman.map(({ id, title }) => `${id} (${title})`).join(", ")}.`,
        retry: { step: "AUTO_FIX" },
        noContinue: notTheAuthors,
        items
      })
    )
  }
  if (items.length > 0) return toAutoFix(run, phase, accepted)
  const comment = summary === undefined || summary === "" ? "" : ` The reviewer says: ${summary}`
  return outcome(
    [accepted],
    escalate({
      origin: "reviewer",
      reason: `The verdict is ${readiness}, but it lists nothing to act on.${comment}`,
      retry: { step: "REVIEW", withGuidance: "AUTO_FIX" },
      noContinue: notTheAuthors,
      items
    })
  )
}

const toAutoFix = (run: Run, phase: PhaseRun, accepted: EventOf<"VerdictAccepted">): Outcome => {
  const after = phaseAfterVerdict(phase, accepted, run.updatedAt)
  const { items } = accepted.verdict
  if (after.stalled < stalledAt) return outcome([accepted], enter("AUTO_FIX", "items-to-fix"))
  return outcome(
    [accepted],
    escalate({
      origin: "limit",
      reason: `${stalledAt} reviews in a row raised no fewer items than the one before (${items.length} now).`,
      retry: { step: "AUTO_FIX", limit: "stalled-review" },
      brief: stepTask(run, after, "AUTO_FIX"),
      items
    })
  )
}

/** Another reviewer would meet the same failure, or a human wanted the review to end. */
const isNotTheReviewers = (kind: FailureKind): boolean =>
  passesByItself(kind) || ["unauthorized", "aborted", "turn-limit"].includes(kind)

/** The run had its review interrupted: it is asked for again, in the same session if that is in order. */
const isInterrupted = ({ pending }: Run, kind: FailureKind): boolean => {
  const review = underWay(pending)
  return review._tag === "Review" && review.interrupted === true && kind === "aborted"
}

/** The reviewer has forgotten its session: the next review begins in a new one, and a human is asked if that fails too. */
export const reviewFailed = (run: Run, phase: PhaseRun, event: InputOf<"ReviewFailed">): Outcome => {
  const { cycle, kind, lastLines, reason, sessionKept } = event
  const broke: RunEvent = { _tag: "ReviewBroke", cycle, reason }
  if (isInterrupted(run, kind)) {
    const kept = sessionKept === true ? { kept: true } : {}
    return outcome([{ ...broke, interrupted: true, ...kept }], enter("REVIEW", "resumed"))
  }
  if (phase.brokenReviews === 0 && !isNotTheReviewers(kind)) {
    return outcome([broke], enter("REVIEW", "review-broke", freshSession))
  }
  const reached = kind === "turn-limit" ? budgetReached(run, "REVIEW") : undefined
  const failed: EscalationRequest = {
    origin: "reviewer",
    reason: withVendorAdvice(run, `The review failed (${kind}): ${reason}`, event),
    retry: { step: "REVIEW" },
    ...(otherModelMayHelp(kind) ? { changesModelOf: "reviewer" } : {}),
    ...(lastLines === undefined ? {} : { evidence: { lastLines } })
  }
  return outcome([broke], escalate({ ...(reached ?? failed), noContinue: notTheAuthors }))
}

const reviewerAfterVerdict = (
  { agent, context: before, since, sessionId: known }: Reviewer,
  { context = before, lastLines, sessionId = known }: EventOf<"VerdictAccepted">,
  idleSince: string
): Reviewer => ({ agent, since, context, lastLines, idleSince, ...defined({ sessionId }) })

const phaseAfterVerdict = (phase: PhaseRun, event: EventOf<"VerdictAccepted">, at: string): PhaseRun => {
  const { verdict } = event
  const before = phase.items.length
  const noFewer = before > 0 && verdict.items.length >= before
  return {
    ...phase,
    verdicts: phase.verdicts + 1,
    brokenReviews: 0,
    items: verdict.items,
    reviewer: reviewerAfterVerdict(phase.reviewer ?? {}, event, at),
    stalled: noFewer ? phase.stalled + 1 : 0
  }
}

const agentBy = ({ model, runtime, variant }: EventOf<"ReviewAsked">["command"]): AgentChoice => ({
  runtime,
  ...defined({ model, variant })
})

/** The review was asked for with everything that had been said until then. */
const givenToReviewer = ({ ledger, pending, phase }: Run, sessionId: SessionId | undefined): Run["ledger"] => {
  const review = underWay(pending)
  if (review._tag !== "Review" || sessionId === undefined) return ledger
  const all = [...wordsFor(ledger, "reviewer", phase?.id), ...decisionsOf(ledger)]
  const said = all.filter(({ id }) => id <= review.said)
  return afterGiving(ledger, said, { sessionId })
}

/** The next review begins in a new session. */
const withoutReviewer = ({ reviewer: _, ...phase }: PhaseRun): PhaseRun => phase

/** A review that is interrupted will report that it was aborted. */
const interrupted = (pending: Pending): Pending =>
  pending._tag === "Review" ? { ...pending, interrupted: true } : pending

const reviewBroke = (run: Run, { cycle, interrupted, kept, reason }: EventOf<"ReviewBroke">): Run => {
  const after: Run = {
    ...withPhase(run, (phase) => ({
      ...(kept === true ? phase : withoutReviewer(phase)),
      brokenReviews: phase.brokenReviews + (interrupted === true ? 0 : 1)
    })),
    pending: nothing,
    prompts: []
  }
  return interrupted === true ? after : withNotice(after, `Review ${cycle} failed: ${reason}`)
}

export const reviewEvolution = {
  ReviewAsked: (run, { command }) => ({
    ...withPhase(run, (phase) => ({
      ...phase,
      reviewCycles: phase.reviewCycles + 1,
      reviewer: {
        ...(phase.reviewer === undefined ? { since: run.updatedAt } : { ...phase.reviewer, idleSince: undefined }),
        agent: agentBy(command)
      }
    })),
    working: run.working.filter((id) => !isReviewer(run, id)),
    pending: { _tag: "Review", cycle: command.cycle, commit: command.commit, said: newestId(run.ledger) }
  }),
  ReviewClosed: (run) => ({
    ...withPhase(run, withoutReviewer),
    pending: run.pending._tag === "Review" ? nothing : run.pending
  }),
  // The run has left the phase already.
  ReviewMoved: (run) => run,
  VerdictAccepted: (run, event) => ({
    ...withPhase(run, (phase) => phaseAfterVerdict(phase, event, run.updatedAt)),
    pending: nothing,
    prompts: [],
    ledger: givenToReviewer(run, event.sessionId)
  }),
  ReviewInterrupted: (run) => ({ ...run, pending: interrupted(run.pending) }),
  ReviewBroke: reviewBroke
} satisfies Partial<Evolution>
