/** The answers to a request for a permission. Pure. */
import type { PromptOption } from "../RuntimeEvent.ts"
import { type RememberedRule, ruleText } from "./PermissionRules.ts"

/** `rules`: what `always` writes; it is offered only if it would write something, and shows what. */
export const permissionOptions = (rules: ReadonlyArray<RememberedRule>): ReadonlyArray<PromptOption> => [
  { name: "once", label: "Allow once" },
  ...(rules.length === 0
    ? []
    : [{ name: "always", label: `Allow always; rule for this repository: ${rules.map(ruleText).join("; ")}` }]),
  { name: "reject", label: "Reject" }
]

/** What an agent is told that a rule refused; its turn goes on. */
export const refusalOf = (rule: string): string =>
  `The user's rule '${rule}' does not allow this. Do the task without it, or say in your report what you could not do.`
