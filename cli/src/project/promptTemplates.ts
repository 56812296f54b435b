/** `.reprise/prompts/NAME.md`: the user's own texts, read and checked before anything starts. */
import { join } from "node:path"
import { templates as ofAuthors } from "@reprise/orchestrator/prompts"
import { type Template, templateProblems } from "@reprise/plan"
import { readForeignFile, readForeignFolder } from "@reprise/process"
import type { RunOptions } from "@reprise/protocol"
import { templates as ofReviewers } from "@reprise/reviewer/prompts"
import { templates as ofReports } from "@reprise/session-manager/prompts"
import { Effect } from "effect"
import { closest } from "fastest-levenshtein"
import { missing } from "../terminal/CliFailure.ts"
import { notRead } from "../terminal/notRead.ts"
import type { Project } from "./Project.ts"

/** Every prompt that users may replace, as the services that send them declare them. */
export const catalogue: ReadonlyArray<Template> = [...Object.values(ofAuthors), ...ofReviewers, ...ofReports]

export const templateNamed = (name: string): Template | undefined => catalogue.find((one) => one.name === name)

export const closestPrompt = (name: string): string =>
  closest(
    name,
    catalogue.map((one) => one.name)
  )

/** Relative to the project's root. */
export const promptPath = (name: string): string => `.reprise/prompts/${name}.md`
const folderOf = (project: Project) => join(project.directory, "prompts")

const largestBytes = 256 * 1024

/** A problem as a compiler would print it. */
const problemAt = (file: string, line: number, column: number, message: string) =>
  `.reprise/prompts/${file}:${line}:${column} ${message}`

interface PromptFile {
  readonly name: string
  readonly text: string
}
type Checked =
  | { readonly _tag: "Prompt"; readonly prompt: PromptFile }
  | { readonly _tag: "Invalid"; readonly problems: ReadonlyArray<string> }

const invalid = (...problems: ReadonlyArray<string>): Checked => ({ _tag: "Invalid", problems })

/** As it is sent: with the line ends of the rest of a prompt, and without trailing blanks. */
const normalised = (text: string): string => text.replaceAll("\r\n", "\n").trimEnd()

const checkText = (template: Template, file: string, bytes: Uint8Array): Checked => {
  if (bytes.length > largestBytes) {
    return invalid(problemAt(file, 1, 1, `the prompt is larger than ${largestBytes / 1024} KB.`))
  }
  try {
    const text = normalised(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    const problems = templateProblems(template, text)
    if (problems.length === 0) return { _tag: "Prompt", prompt: { name: template.name, text } }
    return invalid(...problems.map(({ column, line, message }) => problemAt(file, line, column, message)))
  } catch {
    return invalid(problemAt(file, 1, 1, "the file is not UTF-8 text."))
  }
}

const checkFile = Effect.fnUntraced(function* (project: Project, file: string) {
  const name = file.replace(/\.md$/, "")
  const template = file.endsWith(".md") ? templateNamed(name) : undefined
  if (template === undefined) {
    return invalid(problemAt(file, 1, 1, `there is no prompt of this name; did you mean '${closestPrompt(name)}.md'?`))
  }
  const bytes = yield* Effect.tryPromise({
    try: () => readForeignFile(join(folderOf(project), file), { largestBytes: 2 * largestBytes, follow: true }),
    catch: (cause) => notRead("prompts", `.reprise/prompts/${file}`, cause)
  })
  return bytes === undefined ? invalid(problemAt(file, 1, 1, "it leads nowhere.")) : checkText(template, file, bytes)
})

const listFiles = (project: Project) =>
  Effect.tryPromise({
    try: () => readForeignFolder(folderOf(project), { mostEntries: 1_000 }),
    catch: (cause) =>
      missing("prompts", ".reprise/prompts cannot be read.", "It must be a folder with a few files.", cause)
  })

/** Files that editors leave behind, such as `.work.md.swp` or `work.md~`. */
const isLeftover = (file: string) => file.startsWith(".") || file.endsWith("~")

/** The user's valid texts, and the problems of the others. */
export const readPromptFiles = Effect.fn("readPromptFiles")(function* (project: Project) {
  const files = ((yield* listFiles(project)) ?? [])
    .map(({ name }) => name)
    .filter((file) => !isLeftover(file))
    .sort()
  const checked = yield* Effect.forEach(files, (file) => checkFile(project, file))
  return {
    prompts: checked.flatMap((one) => (one._tag === "Prompt" ? [one.prompt] : [])),
    problems: checked.flatMap((one) => (one._tag === "Invalid" ? one.problems : []))
  }
})

const shownProblems = 20

/** The user's texts by name. Fails with exit code 3, naming every problem with its line and column. */
export const readPrompts = Effect.fn("readPrompts")(function* (project: Project) {
  const { problems, prompts } = yield* readPromptFiles(project)
  if (problems.length > 0) {
    const lines = problems.slice(0, shownProblems).map((problem) => `  ${problem}`)
    return yield* missing(
      "prompt-invalid",
      `These prompts cannot be used:\n${lines.join("\n")}`,
      "'reprise prompts list' lists the prompts, 'reprise prompts show NAME' the variables of one."
    )
  }
  const byName: RunOptions["prompts"] = Object.fromEntries(prompts.map(({ name, text }) => [name, text]))
  return byName
})
