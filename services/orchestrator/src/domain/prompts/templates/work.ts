import { template } from "@reprise/plan/template"
import { closing } from "./closing.ts"
import { planVariables } from "./variables.ts"

export const work = template({
  name: "work",
  sent: "to an author, to carry out a phase",
  variables: planVariables,
  required: [],
  text: `Read the plan {plan_path} and carry out its phase {phase}, and nothing that other phases are for.

The tasks of this phase:
{tasks}{completion_gate}

A task that is marked as a checkpoint needs a human. With human-verify: do and commit the task, then stop. With any other kind: stop before the task. Do nothing that comes after it. If you find that the architecture has to change, stop as well.

${closing}`
})
