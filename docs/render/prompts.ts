/** Every prompt, from the catalogue that the loader checks the user's files against. */
import type { Template } from "@reprise/plan/template"
import { catalogue } from "../../cli/src/project/prompts.ts"
import { code, generated, page, table } from "./markdown.ts"

const variables = ({ required, variables: declared }: Template): string =>
  table(
    ["variable", "stands for"],
    Object.entries(declared).map(([name, meaning]) => [
      code(`{${name}}`),
      `${meaning}${required.includes(name) ? " Required." : ""}`
    ])
  )

/** A fence that is longer than any in the text. */
const fenced = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = "`".repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}

export const promptsPage = (): string =>
  page([
    generated("the templates of the services"),
    "# Prompts",
    "A file `.reprise/prompts/NAME.md` replaces the prompt of that name in every run that starts from then on. `reprise prompts eject NAME` writes the built-in text there, `reprise prompts list` shows which are your own. To share them in the repository, add them with `git add --force`: the rest of `.reprise/` is kept out of git.",
    "`{name}` is filled in once. What is filled in is passed on as it is, whatever it contains. `\\{name}` stands for the characters `{name}`; other braces are text. A variable that is not declared, a required one that is missing, an empty file and a name that is no prompt's are errors with file, line and column, before anything starts.",
    "Some lines are not part of a template: the first line of a work prompt and of a first review, which says who is asked about which phase, and at the end the guidance of a human, word for word.",
    ...catalogue.flatMap((template) => [
      `## ${template.name}`,
      `Sent ${template.sent}.`,
      variables(template),
      fenced(template.text)
    ])
  ])
