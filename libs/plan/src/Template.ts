/**
 * Prompt templates: text with `{name}`s that are filled in once. What is filled in is never read again, whatever it
 * contains. They lie here because prompts are texts of a run like its plan and its summary, and because every `domain/`
 * that talks to an agent may import this library. Pure.
 */

/** A prompt that users may replace by a text of their own. */
export interface Template<Variable extends string = string> {
  /** Names the user's file: letters, digits and `-`. */
  readonly name: string
  /** When an agent is told this, as the end of a sentence that begins with "Sent". */
  readonly sent: string
  /** What each `{name}` stands for. */
  readonly variables: Readonly<Record<Variable, string>>
  /** Those without which the agent would not know what it is asked. */
  readonly required: ReadonlyArray<NoInfer<Variable>>
  readonly text: string
}

/** The values that a template wants. */
export type ValuesOf<T> = T extends Template<infer Variable> ? Readonly<Record<Variable, string>> : never

export const template = <const Variable extends string>(definition: Template<Variable>): Template<Variable> =>
  definition

/** A piece of a template's text. `offset` counts UTF-16 units. */
export type Piece =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Variable"; readonly name: string; readonly text: string; readonly offset: number }
  /** More braces than one, as other template languages have them: it is text, and most likely a mistake. */
  | { readonly _tag: "Doubled"; readonly name: string; readonly text: string; readonly offset: number }

// A backslash before a brace makes text of what would be a variable. Looking behind keeps a row of braces linear.
const marks = /\\(?<literal>\{+\w[\w-]*\}+)|(?<![{\\])(?<open>\{+)(?<name>[A-Za-z_][\w-]*)(?<close>\}+)/g

export const piecesOf = (text: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let end = 0
  for (const match of text.matchAll(marks)) {
    if (match.index > end) pieces.push({ _tag: "Text", text: text.slice(end, match.index) })
    end = match.index + match[0].length
    const { close = "", literal, name = "", open = "" } = match.groups ?? {}
    const single = open === "{" && close === "}"
    pieces.push(
      literal === undefined
        ? { _tag: single ? "Variable" : "Doubled", name, text: match[0], offset: match.index }
        : { _tag: "Text", text: literal }
    )
  }
  return end < text.length ? [...pieces, { _tag: "Text", text: text.slice(end) }] : pieces
}

/**
 * The template with its values, or a user's text in its place. Total: what names no value stays as it is written, for
 * `templateProblems` refuses such texts before a run starts.
 */
export const renderTemplate = <Variable extends string>(
  { text }: Template<Variable>,
  values: Readonly<Record<NoInfer<Variable>, string>>,
  override?: string
): string => {
  const known = new Map<string, string>(Object.entries(values))
  return piecesOf(override ?? text)
    .map((piece) => (piece._tag === "Variable" ? (known.get(piece.name) ?? piece.text) : piece.text))
    .join("")
}
