/** `.reprise/prompts/NAME.md`: the user's own texts, read and checked before anything starts. */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type Template, templateProblems } from "@reprise/plan"
import { Effect } from "effect"
import { closest } from "fastest-levenshtein"
import { missing } from "../terminal/CliFailure.ts"
import type { Project } from "./Project.ts"
import { catalogue, templateNamed } from "./promptTemplates.ts"

/** Relative to the project's root. */
export const promptPath = (name: string): string => `.reprise/prompts/${name}.md`
const folder = (project: Project) => join(project.directory, "prompts")

const largestBytes = 256 * 1024

/** Of an editor's files, such as `.work.md.swp` or `work.md~`, nobody expects that they are prompts. */
const isLeftover = (file: string) => file.startsWith(".") || file.endsWith("~")

/** A problem as a compiler would print it. */
const at = (file: string, line: number, column: number, message: string) =>
  `.reprise/prompts/${file}:${line}:${column} ${message}`

export interface PromptFile {
  readonly name: string
  readonly text: string
}
type Checked =
  | { readonly _tag: "Prompt"; readonly prompt: PromptFile }
  | { readonly _tag: "Wrong"; readonly problems: ReadonlyArray<string> }

const wrong = (...problems: ReadonlyArray<string>): Checked => ({ _tag: "Wrong", problems })

/** The text as it is sent: line ends as they are elsewhere in a prompt, and none at its end. */
const asPrompt = (text: string): string => text.replaceAll("\r\n", "\n").trimEnd()

const checkText = (template: Template, file: string, bytes: Uint8Array): Checked => {
  if (bytes.length > largestBytes) return wrong(at(file, 1, 1, `the prompt is larger than ${largestBytes / 1024} KB.`))
  try {
    const text = asPrompt(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    const problems = templateProblems(template, text)
    if (problems.length === 0) return { _tag: "Prompt", prompt: { name: template.name, text } }
    return wrong(...problems.map(({ column, line, message }) => at(file, line, column, message)))
  } catch {
    return wrong(at(file, 1, 1, "the file is not UTF-8 text."))
  }
}

const names = catalogue.map(({ name }) => name)

const check = Effect.fnUntraced(function* (project: Project, file: string) {
  const name = file.replace(/\.md$/, "")
  const template = file.endsWith(".md") ? templateNamed(name) : undefined
  if (template === undefined) {
    return wrong(at(file, 1, 1, `there is no prompt of this name; did you mean '${closest(name, names)}.md'?`))
  }
  const bytes = yield* Effect.tryPromise({
    try: () => readFile(join(folder(project), file)),
    catch: (cause) =>
      missing("prompts", `.reprise/prompts/${file} cannot be read.`, "It must be a file that you may read.", cause)
  })
  return checkText(template, file, bytes)
})

const list = (project: Project) =>
  Effect.tryPromise({
    try: () =>
      readdir(folder(project)).catch((error) =>
        error instanceof Error && "code" in error && error.code === "ENOENT" ? [] : Promise.reject(error)
      ),
    catch: (cause) => missing("prompts", ".reprise/prompts cannot be read.", "It must be a folder.", cause)
  })

/** The user's texts, those that may not be sent left out, and what is wrong with these. */
export const readPromptFiles = Effect.fn("readPromptFiles")(function* (project: Project) {
  const files = (yield* list(project)).filter((file) => !isLeftover(file)).sort()
  const checked = yield* Effect.forEach(files, (file) => check(project, file))
  return {
    prompts: checked.flatMap((one) => (one._tag === "Prompt" ? [one.prompt] : [])),
    problems: checked.flatMap((one) => (one._tag === "Wrong" ? one.problems : []))
  }
})
