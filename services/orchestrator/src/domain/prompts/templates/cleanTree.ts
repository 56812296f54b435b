import { template } from "@reprise/plan/template"
import { closing } from "./closing.ts"

export const cleanTree = template({
  name: "clean-tree",
  sent: "to the author when an approved phase cannot be finished because files are not committed",
  variables: { dirty: "Those files, one a line." },
  required: ["dirty"],
  text: `The phase is approved, but the working tree is not clean. These files have changes that are not committed:

{dirty}

Commit what belongs to the phase, and remove or restore what does not.

${closing}`
})
