import { template } from "@reprise/plan/template"
import { reportVariables } from "./variables.ts"

export const report = template({
  name: "report",
  sent: "to authors and reviewers after each turn, to get their report",
  variables: reportVariables,
  required: ["shape", "rules"],
  text: `Now report {what}. Do no more work. Answer with one fenced JSON block of this shape and nothing else:

{shape}

{rules}`
})
