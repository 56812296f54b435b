import { template } from "@reprise/plan/template"
import { reviewVariables } from "./variables.ts"

export const reviewFollowUp = template({
  name: "review-follow-up",
  sent: "to the reviewer of the phase when its findings were worked on",
  variables: reviewVariables,
  required: ["commit", "review_path"],
  text: `A new commit ({commit}) has been made in response to your review feedback.

1. Examine the changes introduced at commit {commit} and any subsequent commits.
2. Verify whether the issues from your previous review have been addressed.
3. Identify any new issues introduced by the fixes.
4. Write your updated review as a new addendum to {review_path}.`
})
