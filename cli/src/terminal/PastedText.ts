/**
 * Tells pasted text from typed keys. A line editor takes each line end for Enter, so all but the first line of a paste
 * would be lost, or answer what is asked next. Text of several lines therefore becomes a mark in the edited line, such as
 * `[pasted text 1: 12 lines]`, and `expand` puts the text back. Pure.
 *
 * Terminals that know bracketed paste mark what is pasted. In others several lines that arrive at once are a paste.
 */
const pasteBegins = "\x1b[200~"
const pasteEnds = "\x1b[201~"
/** The first part of `pasteBegins`, at the end of what has arrived. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it
const partOfBegin = /\x1b\[(?:2|20|200)$/
/** Ctrl-C and Ctrl-D are keys, whatever comes with them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send them
const closes = /[\x03\x04]/
const lineEnd = /\r\n|\r|\n/
const allLineEnds = new RegExp(lineEnd, "g")
// biome-ignore lint/suspicious/noControlCharactersInRegex: a line editor takes these for keys
const keyLike = /[\x00-\x1f\x7f]/
/** The line editor takes quadratic time in a line's length. */
const longestInLine = 500

export class PastedText {
  readonly #texts = new Map<string, string>()
  /** The paste whose end has not arrived. */
  #open: string | undefined
  #held = ""

  /** Takes what arrived, and gives the keys for the line editor. */
  read(arrived: string): string {
    let rest = this.#held + arrived
    this.#held = ""
    let keys = ""
    while (rest !== "") {
      if (this.#open !== undefined) {
        const text = this.#open + rest
        const end = text.indexOf(pasteEnds, Math.max(0, this.#open.length - pasteEnds.length))
        this.#open = end < 0 ? text : undefined
        if (end < 0) break
        keys += this.#inserted(text.slice(0, end).replace(/(?:\r\n|\r|\n)$/, ""))
        rest = text.slice(end + pasteEnds.length)
        continue
      }
      const begin = rest.indexOf(pasteBegins)
      keys += this.#typed(begin < 0 ? rest : rest.slice(0, begin))
      if (begin < 0) break
      this.#open = ""
      rest = rest.slice(begin + pasteBegins.length)
    }
    return keys
  }

  /** Whether a line end is held back that ends the text, unless more of it follows at once. */
  get holdsLineEnd(): boolean {
    return this.#held === "\n"
  }

  /** Gives the line end that was held back. */
  release(): string {
    const key = this.holdsLineEnd ? "\r" : ""
    if (key !== "") this.#held = ""
    return key
  }

  /** The line with the pasted text in place of its marks. */
  expand(line: string): string {
    let text = line
    for (const [mark, pasted] of this.#texts) text = text.replace(mark, () => pasted)
    return text
  }

  #typed(text: string): string {
    const part = partOfBegin.exec(text)
    if (part !== null) {
      this.#held = part[0]
      return text.slice(0, part.index)
    }
    const first = lineEnd.exec(text)
    if (first === null || closes.test(text) || first.index + first[0].length === text.length) return text
    const body = text.replace(/(?:\r\n|\r|\n)$/, "")
    if (body !== text) this.#held = "\n"
    return this.#inserted(body)
  }

  #inserted(text: string): string {
    if (text.length <= longestInLine && !keyLike.test(text)) return text
    const pasted = text.replace(allLineEnds, "\n")
    const lines = pasted.split("\n").length
    const size = lines === 1 ? `${pasted.length} characters` : `${lines} lines`
    const mark = `[pasted text ${this.#texts.size + 1}: ${size}]`
    this.#texts.set(mark, pasted)
    return mark
  }
}
