/**
 * Prompt templates: text with variables `{name}`. Each is replaced once, and a value is never scanned for variables,
 * whatever it contains. Templates are part of this library because every pure core that talks to an agent may import it.
 */
import { positionAt } from "./markdown/Position.ts"
import { suggest } from "./plan/PlanProblem.ts"

/** A prompt that users can replace with their own text. */
export interface Template<Variable extends string = string> {
  /** The name of the user's file: letters, digits and `-`. */
  readonly name: string
  /** When the agent gets this prompt: the end of a sentence that begins with "Sent". */
  readonly sent: string
  /** What each `{name}` stands for. */
  readonly variables: Readonly<Record<Variable, string>>
  /** Variables that a user's text must contain, or the agent would not know its task. */
  readonly required: ReadonlyArray<NoInfer<Variable>>
  readonly text: string
}

/** The values that a template needs. */
export type ValuesOf<T> = T extends Template<infer Variable> ? Readonly<Record<Variable, string>> : never

export const template = <const Variable extends string>(definition: Template<Variable>): Template<Variable> =>
  definition

/** A part of a template's text. `offset` counts UTF-16 units. */
type Segment =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Variable"; readonly name: string; readonly text: string; readonly offset: number }
  /** More than one brace, as in other template languages: kept as text, and most likely a mistake. */
  | { readonly _tag: "Doubled"; readonly name: string; readonly text: string; readonly offset: number }

// A backslash before a brace turns a variable into text. The lookbehind keeps matching linear on a row of braces.
const marks = /\\(?<literal>\{+\w[\w-]*\}+)|(?<![{\\])(?<open>\{+)(?<name>[A-Za-z_][\w-]*)(?<close>\}+)/g

const segmentsOf = (text: string): ReadonlyArray<Segment> => {
  const segments: Array<Segment> = []
  let end = 0
  for (const match of text.matchAll(marks)) {
    if (match.index > end) segments.push({ _tag: "Text", text: text.slice(end, match.index) })
    end = match.index + match[0].length
    const { close = "", literal, name = "", open = "" } = match.groups ?? {}
    const single = open === "{" && close === "}"
    segments.push(
      literal === undefined
        ? { _tag: single ? "Variable" : "Doubled", name, text: match[0], offset: match.index }
        : { _tag: "Text", text: literal }
    )
  }
  return end < text.length ? [...segments, { _tag: "Text", text: text.slice(end) }] : segments
}

/**
 * Fills in the template, or the user's text `override` instead. Never fails: an unknown variable stays as it is written,
 * since `templateProblems` refuses such texts before a run starts.
 *
 * @example renderTemplate(work, { plan: "PLAN.md", phase: "2" })
 */
export const renderTemplate = <Variable extends string>(
  { text }: Template<Variable>,
  values: Readonly<Record<NoInfer<Variable>, string>>,
  override?: string
): string => {
  const known = new Map<string, string>(Object.entries(values))
  return segmentsOf(override ?? text)
    .map((segment) => (segment._tag === "Variable" ? (known.get(segment.name) ?? segment.text) : segment.text))
    .join("")
}

/** A mistake in a user's text, with its line and column (from 1) and how to fix it. */
export interface TemplateProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

const problemOf = (segment: Segment, known: ReadonlyArray<string>): string | undefined => {
  if (segment._tag === "Text") return undefined
  const { name, text } = segment
  if (segment._tag === "Doubled") {
    return `'${text}' is not a variable: write {${name}}, or \\${text} to get these characters.`
  }
  if (known.includes(name)) return undefined
  const hint = known.length === 0 ? "this template has no variables." : suggest(name, known)
  return `unknown variable '${text}'; ${hint} Write \\${text} to get these characters.`
}

/** Nobody reads more. */
const mostProblems = 100

/** Checks a user's text for a template. Problems come in the order of the text; none means the text can be used. */
export const templateProblems = (template: Template, text: string): ReadonlyArray<TemplateProblem> => {
  if (text.trim() === "")
    return [{ line: 1, column: 1, message: "the prompt is empty; delete the file to use the built-in prompt." }]
  const known = Object.keys(template.variables)
  const segments = segmentsOf(text)
  const wrong = segments
    .flatMap((segment) => {
      const message = problemOf(segment, known)
      return message === undefined || segment._tag === "Text" ? [] : [{ offset: segment.offset, message }]
    })
    .slice(0, mostProblems)
    .map(({ message, offset }) => {
      const { column, line } = positionAt(text, offset)
      return { line, column, message }
    })
  const used = new Set(segments.flatMap((segment) => (segment._tag === "Variable" ? [segment.name] : [])))
  const missing = template.required
    .filter((name) => !used.has(name))
    .map((name) => ({ line: 1, column: 1, message: `{${name}} is missing; the agent needs it to know its task.` }))
  return [...wrong, ...missing]
}
