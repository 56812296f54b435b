import { template } from "@reprise/plan/template"

export const continuation = template({
  name: "continuation",
  sent: "to a fresh author of a phase that is done in part",
  variables: {
    plan_path: "Path of the plan in the workspace.",
    state_path: "Path of the record of what is done.",
    done: "The tasks around the place to go on, as a table, and how many are not shown.",
    resolution: "Empty, or what the human decided and an empty line.",
    resume: "Empty, or where to go on and an empty line.",
    findings: "Empty, or open findings of the last review and where the phase before is summed up, and an empty line."
  },
  required: ["done", "resolution", "resume"],
  text: `Part of this phase was done by other agents before you, and was verified. Read the plan {plan_path} and the record of what is done, {state_path}.

{done}

{resolution}{resume}{findings}Before you go on:
1. Verify with \`git log\` that the commits of the record exist, and that its files are there. If any is missing, stop and report which: do not make it again.
2. Write no task again that is complete.
3. Make one commit for each task that you do.`
})
