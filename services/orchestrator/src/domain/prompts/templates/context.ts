import { template } from "@reprise/plan/template"
import { planVariables } from "./variables.ts"

export const context = template({
  name: "context",
  sent: "to a fresh author before the prompt of any step but the first",
  variables: {
    ...planVariables,
    commit: "The newest verified commit of the phase.",
    base: "The commit that the phase began from."
  },
  required: [],
  text: `Other agents have worked on this phase before you. Its work is committed up to {commit}; the phase began at {base}. Read the plan {plan_path} and the changes since then before you go on.

The tasks of this phase:
{tasks}{completion_gate}`
})
