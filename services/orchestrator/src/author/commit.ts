/** What a verified or rejected commit leads to (docs/design/run-machine.md#the-run-machine-orchestrator). */

import { quote } from "@reprise/plan/quote"
import { defined } from "@reprise/protocol"
import { render } from "../prompt/templates.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvent } from "../run/journal.ts"
import { escalate, type Outcome, outcome } from "../run/moves.ts"
import { noted } from "../run/noted.ts"
import { lastVerified, phaseBegan } from "../run/plan.ts"
import type { Retry } from "../run/question.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { afterWork } from "./report.ts"

export const commitVerified = (run: Run, event: InputOf<"CommitVerified">): Outcome => {
  const { commit, diffStat, notes = [] } = event
  const accepted: RunEvent = {
    _tag: "CommitAccepted",
    commit,
    ...defined({ diffStat }),
    ...(notes.length === 0 ? {} : { notes })
  }
  return outcome([accepted, ...noted(event)], afterWork(run))
}

/** After a rewritten history the work can only go on from it: continue and fix accept it. */
const acceptHistory = (base: string | undefined): Partial<Retry> => (base === undefined ? {} : { base })

const rewriteHint = (phase: PhaseRun, base: string | undefined): string => {
  if (base === undefined) return ""
  const lost =
    phase.verified === undefined
      ? ` What came after it until ${phaseBegan(phase)}, where this phase began, is gone, though it may have been approved: compare with 'git diff ${phaseBegan(phase)}'.`
      : ""
  return ` The history after ${base} was rewritten; continue and fix accept it as it is now.${lost}`
}

/** A commit made during the review was rejected, and no author is at work who could be told: one is started for words. */
const rejectedAfterReview = ({ commit, detail, reason }: InputOf<"CommitRejected">): Outcome =>
  outcome(
    [{ _tag: "CommitTurnedDown", commit, reason, detail }],
    escalate({
      origin: "commit",
      reason: `HEAD moved to ${commit} during the review, and that commit was rejected (${reason}): ${detail}`,
      retry: { withGuidance: "AUTO_FIX" },
      evidence: { commit }
    })
  )

/** What the author claims at a checkpoint does not hold: it is told once, as of a rejected commit. */
export const claimsRejected = (run: Run, phase: PhaseRun, event: InputOf<"ClaimsRejected">): Outcome => {
  const { base, commit, detail, reason } = event
  const task = render(run, "claims-rejected", { reason, detail: quote(detail), base: phase.base })
  return outcome(
    [{ _tag: "CommitTurnedDown", commit, reason, detail }],
    phase.told.commit
      ? escalate({
          origin: "commit",
          reason: `What the author reports at a checkpoint was rejected again (${reason}): ${detail}${rewriteHint(phase, base)}`,
          retry: acceptHistory(base),
          brief: task,
          evidence: { commit }
        })
      : { _tag: "Tell", purpose: "commit-rejected", task, continued: phase.continued }
  )
}

/** The author is told once what is wrong. If a human continues its session later, it is told again. */
export const commitRejected = (run: Run, phase: PhaseRun, event: InputOf<"CommitRejected">): Outcome => {
  if (run.step === "PHASE_GATE") return rejectedAfterReview(event)
  const { base, commit, detail, reason } = event
  const task = render(run, "commit-rejected", { commit, reason, detail: quote(detail), base: lastVerified(phase) })
  return outcome(
    [{ _tag: "CommitTurnedDown", commit, reason, detail }],
    phase.told.commit
      ? escalate({
          origin: "commit",
          reason: `Commit ${commit} was rejected again (${reason}): ${detail}${rewriteHint(phase, base)}`,
          retry: acceptHistory(base),
          brief: task,
          evidence: { commit }
        })
      : { _tag: "Tell", purpose: "commit-rejected", task, continued: phase.continued }
  )
}
