import { template } from "@reprise/plan/template"

export const reportCorrection = template({
  name: "report-correction",
  sent: "to the author whose report contradicts itself",
  variables: { problem: "What is wrong with the report." },
  required: ["problem"],
  text: `Your last report cannot be used: {problem}

Do no further work unless the report shows that some is missing. You will be asked for the report once more: give one that is complete and true.`
})
