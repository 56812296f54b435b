import { template } from "@reprise/plan/template"
import { closing } from "./closing.ts"

export const autoFix = template({
  name: "auto-fix",
  sent: "to the author when a review has found something to mend",
  variables: {
    cycle: "How often this phase was reviewed.",
    items: "The items of the review, as the reviewer wrote them."
  },
  required: ["items"],
  text: `Review cycle {cycle} of this phase raised the following items. Work on every one of them.

{items}

If you are convinced that an item is wrong, leave it and give your reason: the reviewer will be told.

${closing}`
})
