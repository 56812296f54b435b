import { template } from "@reprise/plan/template"

export const idleAgain = template({
  name: "idle-again",
  sent: "to an author who went on by itself while a human was asked, and is idle again",
  variables: { phase: "The phase's number." },
  required: [],
  text: `You have worked in this session since the run stopped to ask a human, and are idle again. Do no further work now, except to commit what is not committed yet.

You will be asked for a report of where phase {phase} stands: give one that is complete and true.`
})
