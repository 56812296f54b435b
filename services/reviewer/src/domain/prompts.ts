/**
 * What a reviewer is asked (sessions: Reviews). Pure text. Neither prompt speaks of the report: the session-manager
 * asks for that afterwards.
 */
import { renderTemplate } from "@reprise/plan/template"
import type { ReviewCommand } from "@reprise/protocol"
import { review } from "./templates/review.ts"
import { reviewFollowUp } from "./templates/reviewFollowUp.ts"

export type ReviewRequest = Extract<ReviewCommand, { readonly _tag: "RequestReview" }>

export const templates = [review, reviewFollowUp] as const

/** The template, or the text that the run's options have in its place, filled in. */
const render = (template: (typeof templates)[number], request: ReviewRequest): string =>
  renderTemplate(
    template,
    {
      phase: request.phase,
      plan_path: request.planPath,
      commit: request.commit,
      base: request.base,
      review_path: request.reviewPath,
      cycle: String(request.cycle)
    },
    request.prompts[template.name]
  )

/** The first line is always the same for a phase. */
const header = ({ phase, planPath }: ReviewRequest): string =>
  `You are the reviewer of phase ${phase} of the plan ${planPath}.`

const authorsWords = (request: ReviewRequest): string =>
  request.notes === undefined || request.notes.trim() === ""
    ? ""
    : `\n\nWhat the author says of its work. Where it declines an item, accept its reason or say why it does not hold:\n${request.notes.trim()}`

/** The whole task, for a session that knows nothing of it. */
export const firstPrompt = (request: ReviewRequest): string =>
  `${header(request)}\n\n${render(review, request)}${authorsWords(request)}`

/** For the session that reviewed `lastReviewed`: what is new, and where to look. */
export const followUpPrompt = (request: ReviewRequest, lastReviewed: string): string => {
  const range =
    lastReviewed === request.commit
      ? "\n\nIt is the commit that you reviewed last: there is no newer one."
      : `\n\nRead what changed, do not judge from memory: \`git diff ${lastReviewed}..${request.commit}\`.`
  return render(reviewFollowUp, request) + range + authorsWords(request)
}
