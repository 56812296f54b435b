/** What becomes of a commit that an author reported (run-machine: commit rejected). */
import type { InputOf } from "../actor/inputs.ts"
import { escalate, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { lastVerified } from "../phase/plan.ts"
import { render } from "../prompts.ts"
import type { Retry } from "../question/question.ts"
import { afterWork } from "./report.ts"

export const commitVerified = (run: Run, event: InputOf<"CommitVerified">): Outcome => {
  const { commit, diffStat } = event
  return outcome([{ _tag: "CommitAccepted", commit, ...(diffStat === undefined ? {} : { diffStat }) }], afterWork(run))
}

/** Whoever lets the work go on after its history was rewritten takes that as it is: nothing else leads on. */
const asItIs = (base: string | undefined): Partial<Retry> => (base === undefined ? {} : { base })

const hint = (base: string | undefined): string =>
  base === undefined ? "" : ` The history was rewritten above ${base}; going on takes it as it is now.`

/** What came after the verdict is no sound work, and no author is there to be told. */
const rejectedAfterReview = ({ commit, detail, reason }: InputOf<"CommitRejected">): Outcome =>
  outcome(
    [{ _tag: "CommitTurnedDown", commit, reason, detail }],
    escalate({
      origin: "commit",
      reason: `HEAD moved to ${commit} during the review, and it cannot be reviewed (${reason}): ${detail}`,
      evidence: { commit }
    })
  )

/** The author is told once what is wrong. What it is told then, it also needs to know when it is continued. */
export const commitRejected = (run: Run, phase: PhaseRun, event: InputOf<"CommitRejected">): Outcome => {
  if (run.step === "PHASE_GATE") return rejectedAfterReview(event)
  const { base, commit, detail, reason } = event
  const task = render(run, "commit-rejected", { commit, reason, detail, base: lastVerified(phase) })
  return outcome(
    [{ _tag: "CommitTurnedDown", commit, reason, detail }],
    phase.told.commit
      ? escalate({
          origin: "commit",
          reason: `Commit ${commit} was rejected again (${reason}): ${detail}${hint(base)}`,
          retry: asItIs(base),
          brief: task,
          evidence: { commit }
        })
      : { _tag: "Tell", purpose: "commit-rejected", task, continued: false }
  )
}
