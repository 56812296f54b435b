import { template } from "@reprise/plan/template"

export const continuation = template({
  name: "continuation",
  sent: "to a fresh author of a phase that is done in part",
  variables: {
    state_path: "Path of the record of what is done.",
    done: "The newest tasks that are done, as a table.",
    resolution: "Empty, or what the human decided and an empty line.",
    resume: "Empty, or where to go on and an empty line."
  },
  required: ["done", "resolution", "resume"],
  text: `Part of this phase is done and was verified. The record is in {state_path}.

{done}

{resolution}{resume}Before you go on, verify with \`git log\` that these commits exist. If any is missing, stop and say which: do not make it again. Write no task again that is done. Make one commit for each remaining task.`
})
