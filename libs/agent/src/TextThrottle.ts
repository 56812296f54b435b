/** Gathers what a model writes, so that it is told a few times a second and not for each of its many pieces. Pure. */

export interface TextPiece {
  readonly part: string
  readonly kind: "text" | "reasoning"
  readonly text: string
  /** Characters left out before the text. */
  readonly omitted: number
}

export const emitEveryMs = 150
/** Nobody reads faster. Of more than that only the newest is told. */
const longest = 4 * 1024

export class TextThrottle {
  #part = ""
  #kind: TextPiece["kind"] = "text"
  #text = ""
  #omitted = 0
  #toldAt = Number.NEGATIVE_INFINITY

  /** Takes a piece that arrived at `nowMs`, and gives what is to be told now. */
  add(part: string, kind: TextPiece["kind"], text: string, nowMs: number): ReadonlyArray<TextPiece> {
    const before = part === this.#part ? [] : this.flush()
    this.#part = part
    this.#kind = kind
    this.#text += text
    if (this.#text.length > 2 * longest) this.#shorten()
    if (nowMs - this.#toldAt < emitEveryMs) return before
    this.#toldAt = nowMs
    return [...before, ...this.flush()]
  }

  /** Whether something has not been told yet: a model that pauses is not waited for. */
  get holds(): boolean {
    return this.#text !== ""
  }

  /** What has not been told yet. */
  flush(): ReadonlyArray<TextPiece> {
    if (this.#text === "") return []
    if (this.#text.length > longest) this.#shorten()
    const words = { part: this.#part, kind: this.#kind, text: this.#text, omitted: this.#omitted }
    this.#text = ""
    this.#omitted = 0
    return [words]
  }

  #shorten(): void {
    let from = this.#text.length - longest
    // A character outside of the basic plane takes two places.
    const unit = this.#text.charCodeAt(from)
    if (unit >= 0xdc00 && unit <= 0xdfff) from += 1
    this.#omitted += from
    this.#text = this.#text.slice(from)
  }
}
