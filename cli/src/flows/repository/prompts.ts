/** `reprise prompts list|show NAME|eject NAME`: what agents are told, and how to say it otherwise. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { prepareDirectory } from "@reprise/nats"
import type { Template } from "@reprise/plan/template"
import { Effect } from "effect"
import { closest } from "fastest-levenshtein"
import { findProject } from "../../project/Project.ts"
import { promptPath, readPromptFiles } from "../../project/promptFiles.ts"
import { catalogue, templateNamed } from "../../project/promptTemplates.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { table } from "../../views/table.ts"

const requireTemplate = Effect.fnUntraced(function* (name: string) {
  const names = catalogue.map((one) => one.name)
  return (
    templateNamed(name) ??
    (yield* wrongUse(
      "unknown-prompt",
      `There is no prompt '${name.slice(0, 80)}'.`,
      `Did you mean '${closest(name.slice(0, 80), names)}'? 'reprise prompts list' names them all.`
    ))
  )
})

const summary = (template: Template, overridden: boolean) => ({
  name: template.name,
  sent: template.sent,
  path: promptPath(template.name),
  overridden,
  variables: template.variables,
  required: template.required
})

export const list = Effect.fn("prompts.list")(function* (flags: { readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const { problems, prompts } = yield* readPromptFiles(project)
  const own = new Set(prompts.map(({ name }) => name))
  const rows = catalogue.map((one) => summary(one, own.has(one.name)))
  if (flags.json) return okJson({ prompts: rows, problems })
  const cells = rows.map(({ name, overridden, sent }) => [name, overridden ? "your own" : "built in", sent])
  data(table(["prompt", "text", "sent"], cells))
  for (const problem of problems) say(problem)
})

export const show = Effect.fn("prompts.show")(function* (flags: { readonly name: string; readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const template = yield* requireTemplate(flags.name)
  const { prompts } = yield* readPromptFiles(project)
  const own = prompts.find(({ name }) => name === template.name)
  const text = own?.text ?? template.text
  if (flags.json) return okJson({ ...summary(template, own !== undefined), text })
  say(
    `Sent ${template.sent}. ${own === undefined ? "This is the built-in text" : `Your own text, ${promptPath(template.name)}`}.`
  )
  for (const [name, meaning] of Object.entries(template.variables)) {
    say(`  {${name}}  ${meaning}${template.required.includes(name) ? " Required." : ""}`)
  }
  data(text)
})

export const eject = Effect.fn("prompts.eject")(function* (flags: { readonly name: string; readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const template = yield* requireTemplate(flags.name)
  const path = promptPath(template.name)
  yield* prepareDirectory(project.directory).pipe(
    Effect.mapError((error) => missing("state", error.message, "Check the folder's permissions.", error))
  )
  yield* Effect.try({
    try: () => {
      mkdirSync(join(project.directory, "prompts"), { recursive: true, mode: 0o700 })
      writeFileSync(join(project.root, path), `${template.text}\n`, { flag: "wx" })
    },
    catch: (cause) =>
      cause instanceof Error && "code" in cause && cause.code === "EEXIST"
        ? wrongUse("exists", `${path} exists already.`, "Edit it, or remove it first.")
        : missing("prompts", `${path} cannot be written.`, "Check the folder's permissions.", cause)
  })
  if (flags.json) return okJson({ path })
  say(`Wrote ${path}: every run that starts from now on uses it. Remove it to go back to the built-in text.`)
})
