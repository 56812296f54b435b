/** What a human may answer: a permission's own options, a question's labels or something else in words. */
import type { PendingPrompt } from "@reprise/agent"

export const optionsOf = ({ kind, options }: PendingPrompt): ReadonlyArray<{ name: string; label: string }> => {
  const offered = options.map(({ label, name }) => ({ name, label }))
  return kind === "permission" ? offered : [...offered, { name: "other", label: "Something else, in words" }]
}
