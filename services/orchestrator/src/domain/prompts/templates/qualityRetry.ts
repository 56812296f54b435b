import { template } from "@reprise/plan/template"
import { closing } from "./closing.ts"

export const qualityRetry = template({
  name: "quality-retry",
  sent: "to the author when quality gates have failed",
  variables: { failures: "Each failed command with its end, its log file and the beginning and end of its output." },
  required: ["failures"],
  text: `Your work was committed, but these quality gates fail. Find out why and mend it, without weakening any gate.

{failures}

${closing}`
})
