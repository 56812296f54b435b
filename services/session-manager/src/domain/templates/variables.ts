/** What both templates know. */
export const reportVariables = {
  what: "'what you did' for an author, 'your verdict' for a reviewer.",
  shape: "The shape of the report, as a fenced block.",
  rules: "What each of its fields means, one a line."
} as const
