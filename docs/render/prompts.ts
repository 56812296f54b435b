/** Every prompt, from the catalogue against which the loader checks the user's files. */
import type { Template } from "@reprise/plan/template"
import { catalogue } from "../../cli/src/project/promptTemplates.ts"
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
    "A file `.reprise/prompts/NAME.md` replaces the prompt of that name in every run that starts afterwards. `reprise prompts eject NAME` writes the built-in text to that file; `reprise prompts list` shows which prompts you have replaced. To share them in the repository, add them with `git add --force`, because git ignores `.reprise/`.",
    "`{name}` is replaced once; the inserted text is not interpreted again. `\\{name}` stands for the characters `{name}`; other braces are text. An undeclared variable, a missing required variable, an empty file and an unknown prompt name are reported with file, line and column before anything starts.",
    "Two parts are not in the templates: the first line of a work prompt and of a first review, which names the role and the phase, and a human's guidance at the end, verbatim.",
    ...catalogue.flatMap((template) => [
      `## ${template.name}`,
      `Sent ${template.sent}.`,
      variables(template),
      fenced(template.text)
    ])
  ])
