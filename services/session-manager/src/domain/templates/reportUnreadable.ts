import { template } from "@reprise/plan/template"
import { reportVariables } from "./variables.ts"

export const reportUnreadable = template({
  name: "report-unreadable",
  sent: "to an agent whose report could not be read",
  variables: { ...reportVariables, problem: "Why it could not be read." },
  required: ["shape", "problem"],
  text: `Your report could not be read: {problem}

Send it again, corrected, as one fenced JSON block of this shape and nothing else:

{shape}

{rules}`
})
