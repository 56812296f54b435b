/**
 * What a reviewer is asked (sessions: Reviews). Pure text. Neither prompt speaks of the report: the session-manager
 * asks for that afterwards. A template of the run's configuration, `review` or `review-follow-up`, replaces the text of the
 * same name; `{name}` in it is filled in.
 */
import type { ReviewCommand } from "@reprise/protocol"

export type ReviewRequest = Extract<ReviewCommand, { readonly _tag: "RequestReview" }>

const templateNames = { first: "review", followUp: "review-follow-up" } as const

const first = `You are the reviewer of phase {phase} of the plan {plan_path}.

The author says that this phase is implemented by commit {commit}. The phase began at commit {base}.

1. Read the plan, above all phase {phase}: its tasks, its completion gate and what it leaves out.
2. Read the changes: \`git diff {base}..{commit}\`, and as much of the code around them as you need to judge them.
3. Check what you doubt by running it. Do not change the code, and commit nothing.
4. Write your review to {review_path}.

Judge the changes by these criteria:
- Complete: every task of the phase is done, and nothing that later phases are for.
- Correct: it does what the plan says, also for wrong input, at limits, after errors and when things run side by side.
- Tested: the tests would fail if the behaviour broke.
- Safe: no secrets, no injection, no loss of data.
- In place: it follows the conventions of this codebase, and names and comments say what is true.

Give every finding a short id (R1, R2, …), a title, an action, a reason and a priority.
The action is one of:
- auto_fix: the author can fix it without asking anybody. Prefer this one.
- human_required: it needs a decision that neither the plan nor the code answers, or something only a human can do.
The priority is one of:
- P0: wrong or dangerous; the phase cannot be approved with it.
- P1: to be fixed before the phase is approved.
- P2: worth doing, and no reason to hold the phase up.`

const followUp = `A new commit ({commit}) has been made in response to your review feedback.

1. Examine the changes introduced at commit {commit} and any subsequent commits.
2. Verify whether the issues from your previous review have been addressed.
3. Identify any new issues introduced by the fixes.
4. Write your updated review as a new addendum to {review_path}.`

const fill = (template: string, values: Record<string, string>): string =>
  template.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole)

const valuesOf = (request: ReviewRequest) => ({
  phase: request.phase,
  plan_path: request.planPath,
  commit: request.commit,
  base: request.base,
  review_path: request.reviewPath,
  cycle: String(request.cycle)
})

const declined = (request: ReviewRequest): string =>
  request.notes === undefined || request.notes.trim() === ""
    ? ""
    : `\n\nThe author declined some items, for these reasons. Accept each reason or say why it does not hold:\n${request.notes.trim()}`

/** The whole task, for a session that knows nothing of it. */
export const firstPrompt = (request: ReviewRequest): string =>
  fill(request.prompts[templateNames.first] ?? first, valuesOf(request)) + declined(request)

/** For the session that reviewed `lastReviewed`: what is new, and where to look. */
export const followUpPrompt = (request: ReviewRequest, lastReviewed: string): string => {
  const range =
    lastReviewed === request.commit
      ? "\n\nIt is the commit that you reviewed last: there is no newer one."
      : `\n\nRead what changed, do not judge from memory: \`git diff ${lastReviewed}..${request.commit}\`.`
  return fill(request.prompts[templateNames.followUp] ?? followUp, valuesOf(request)) + range + declined(request)
}
