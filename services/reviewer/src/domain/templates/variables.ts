/** What both templates know. */
export const reviewVariables = {
  phase: "The phase's number.",
  plan_path: "Path of the plan in the workspace.",
  commit: "The commit to review.",
  base: "The commit that the phase began from.",
  review_path: "The file that the review is to be written to.",
  cycle: "How often this phase is reviewed with this review."
} as const
