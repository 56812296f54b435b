/** What is wrong with a text that is to replace a template: each at its line and column, with what to do. */
import { positionAt } from "./Position.ts"
import { suggest } from "./suggest.ts"
import { type Piece, piecesOf, type Template } from "./Template.ts"

/** `line` and `column` count from 1. */
export interface TemplateProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

const problemOf = (piece: Piece, known: ReadonlyArray<string>): string | undefined => {
  if (piece._tag === "Text") return undefined
  const { name, text } = piece
  if (piece._tag === "Doubled") {
    return `'${text}' is no variable: write {${name}}, or \\${text} for these characters themselves.`
  }
  if (known.includes(name)) return undefined
  const hint = known.length === 0 ? "this template has none." : suggest(name, known)
  return `unknown variable '${text}'; ${hint} For these characters themselves write \\${text}.`
}

/** In the order of the text; empty when the text may replace the template. */
export const templateProblems = (template: Template, text: string): ReadonlyArray<TemplateProblem> => {
  if (text.trim() === "")
    return [{ line: 1, column: 1, message: "the prompt is empty; remove the file to go without." }]
  const known = Object.keys(template.variables)
  const pieces = piecesOf(text)
  const wrong = pieces.flatMap((piece) => {
    const message = problemOf(piece, known)
    if (message === undefined || piece._tag === "Text") return []
    const { column, line } = positionAt(text, piece.offset)
    return [{ line, column, message }]
  })
  const used = new Set(pieces.flatMap((piece) => (piece._tag === "Variable" ? [piece.name] : [])))
  const forgotten = template.required
    .filter((name) => !used.has(name))
    .map((name) => ({ line: 1, column: 1, message: `{${name}} is nowhere in it: the agent has to be told.` }))
  return [...wrong, ...forgotten]
}
