/** Reviews: asked for, and what a verdict leads to (run-machine: REVIEW). */

import { type Item, reviewKey } from "@reprise/protocol"
import type { InputOf } from "../actor/inputs.ts"
import type { RunEvent, RunEvents } from "../actor/journal.ts"
import { enter, escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { agentPlace, turnLimits } from "../author/ask.ts"
import { stepTask } from "../author/prompt.ts"
import { evolvePhase } from "../phase/evolve.ts"
import { lastVerified, reviewFile, sameCommit } from "../phase/plan.ts"
import { guidanceText, paragraphs } from "../prompts.ts"

/** Whether this session is one of the phase's reviewer: their ids begin with the review's key. */
export const isReviewerOf = (run: Run, phase: PhaseRun, sessionId: string): boolean =>
  sessionId.startsWith(`${reviewKey(run.runId, phase.id)}-`)

/** `fresh`: the reviewer forgets its session first, so that this review begins in a new one. */
export const startReview = (run: Run, phase: PhaseRun, fresh: boolean): RunEvents => {
  const { model, prompts, reviewerModel } = run.request.options
  const notes = paragraphs(...phase.notes, guidanceText(run.guidance.texts.slice(run.guidance.reviewer)))
  const chosenModel = reviewerModel ?? model
  const asked: RunEvent = {
    _tag: "ReviewAsked",
    command: {
      _tag: "RequestReview",
      runId: run.runId,
      phase: phase.id,
      commit: lastVerified(phase),
      base: phase.base,
      reviewPath: reviewFile(run, phase),
      planPath: run.request.planPath,
      cycle: phase.reviewCycles + 1,
      ...agentPlace(run),
      ...(chosenModel === undefined ? {} : { model: chosenModel }),
      limits: turnLimits(run),
      ...(notes === "" ? {} : { notes }),
      prompts
    }
  }
  return fresh ? [closeReview(phase, false, "the review begins anew"), asked] : [asked]
}

export const closeReview = (phase: PhaseRun, aborted: boolean, reason: string): RunEvent => ({
  _tag: "ReviewClosed",
  phase: phase.id,
  aborted,
  reason
})

const humanRequired = (items: ReadonlyArray<Item>) => items.filter((item) => item.action === "human_required")

const noAuthor = "the reviewer asked, and its session is not the author's"

/** Verdicts in a row without progress after which a human is asked (sessions: Reviews). */
const stalledAt = 2

/** In this order: approved, a human is needed, something to fix, nothing to act on. */
export const verdictReached = (run: Run, phase: PhaseRun, event: InputOf<"VerdictReached">): Outcome => {
  const { commit, cycle, verdict } = event
  const accepted: RunEvent = { _tag: "VerdictAccepted", verdict, commit, cycle }
  const { items, readiness, summary } = verdict
  if (!sameCommit(commit, lastVerified(phase))) {
    return outcome([accepted], enter("REVIEW", "verdict-of-another-commit"))
  }
  if (readiness === "ready") return outcome([accepted], enter("PHASE_GATE", "verdict-ready"))
  const asked = humanRequired(items)
  if (asked.length > 0) {
    return outcome(
      [accepted],
      escalate({
        origin: "reviewer",
        reason: `The review needs a human for ${asked.map(({ id, title }) => `${id} (${title})`).join(", ")}.`,
        retry: { step: "AUTO_FIX" },
        noContinue: noAuthor,
        items
      })
    )
  }
  if (items.length > 0) return toFix(run, phase, accepted, items)
  const said = summary === undefined || summary === "" ? "" : ` It says: ${summary}`
  return outcome(
    [accepted],
    escalate({
      origin: "reviewer",
      reason: `The verdict is ${readiness}, with nothing to act on.${said}`,
      retry: { step: "REVIEW", withGuidance: "AUTO_FIX" },
      noContinue: noAuthor,
      items
    })
  )
}

const toFix = (run: Run, phase: PhaseRun, accepted: RunEvent, items: ReadonlyArray<Item>): Outcome => {
  const after = evolvePhase(phase, accepted)
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

/** The reviewer has forgotten its session: the retry is in a new one. */
export const reviewFailed = (event: InputOf<"ReviewFailed">): Outcome =>
  outcome(
    [{ _tag: "ReviewBroke", cycle: event.cycle, reason: event.reason }],
    escalate({
      origin: "reviewer",
      reason: `The review failed (${event.kind}): ${event.reason}`,
      retry: { step: "REVIEW" },
      noContinue: noAuthor
    })
  )
