/** `reprise prompts list|show NAME|eject NAME`: the prompts for agents, and how to override them. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Template } from "@reprise/plan/template"
import { hasCode } from "@reprise/process"
import { Effect } from "effect"
import { findProject } from "../../project/findProject.ts"
import { catalogue, closestPrompt, promptPath, readPromptFiles, templateNamed } from "../../project/promptTemplates.ts"
import { prepareState } from "../../project/stateOrigin.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { table } from "../../views/table.ts"

interface Flags {
  readonly name: string
  readonly json: boolean
}

const requireTemplate = Effect.fnUntraced(function* (given: string) {
  const name = given.slice(0, 80)
  return (
    templateNamed(given) ??
    (yield* wrongUse(
      "unknown-prompt",
      `There is no prompt '${name}'.`,
      `Did you mean '${closestPrompt(name)}'? 'reprise prompts list' lists them all.`
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

export const listPrompts = Effect.fn("listPrompts")(function* (flags: { readonly json: boolean }) {
  const project = yield* findProject(process.cwd())
  const { problems, prompts } = yield* readPromptFiles(project)
  const own = new Set(prompts.map(({ name }) => name))
  const rows = catalogue.map((one) => summary(one, own.has(one.name)))
  if (flags.json) return okJson({ prompts: rows, problems })
  const cells = rows.map(({ name, overridden, sent }) => [name, overridden ? "your own" : "built in", sent])
  data(table(["prompt", "text", "sent"], cells))
  for (const problem of problems) say(problem)
})

export const showPrompt = Effect.fn("showPrompt")(function* (flags: Flags) {
  const project = yield* findProject(process.cwd())
  const template = yield* requireTemplate(flags.name)
  const { prompts } = yield* readPromptFiles(project)
  const own = prompts.find(({ name }) => name === template.name)
  const text = own?.text ?? template.text
  if (flags.json) return okJson({ ...summary(template, own !== undefined), text })
  const origin =
    own === undefined ? "This is the built-in text" : `This is your own text from ${promptPath(template.name)}`
  say(`Sent ${template.sent}. ${origin}.`)
  for (const [name, meaning] of Object.entries(template.variables)) {
    say(`  {${name}}  ${meaning}${template.required.includes(name) ? " Required." : ""}`)
  }
  data(text)
})

export const ejectPrompt = Effect.fn("ejectPrompt")(function* (flags: Flags) {
  const project = yield* findProject(process.cwd())
  const template = yield* requireTemplate(flags.name)
  const path = promptPath(template.name)
  yield* prepareState(project)
  yield* Effect.try({
    try: () => {
      mkdirSync(join(project.directory, "prompts"), { recursive: true, mode: 0o700 })
      writeFileSync(join(project.root, path), `${template.text}\n`, { flag: "wx" })
    },
    catch: (cause) =>
      hasCode(cause, "EEXIST")
        ? wrongUse("exists", `${path} exists already.`, "Edit it, or remove it first.")
        : missing("prompts", `${path} cannot be written.`, "Check the folder's permissions.", cause)
  })
  if (flags.json) return okJson({ path })
  say(`Wrote ${path}: runs that start from now on use it. Remove it to return to the built-in text.`)
})
