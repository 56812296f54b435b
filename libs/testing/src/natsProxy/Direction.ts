/** One direction of a connection: frames go through in order, unless a fault says otherwise. */
import type { Frame } from "./frames.ts"

/** What happens to one frame. */
export type Fate =
  /** It and everything behind it arrive so much later. */
  | { readonly do: "delay"; readonly ms: number }
  /** What is behind it, of other subjects, arrives first; it arrives after this time at the latest. */
  | { readonly do: "overtake"; readonly ms: number }
  /** It arrives twice, as when a client sends it again. */
  | { readonly do: "repeat" }
  /** It never arrives; the connection stays. */
  | { readonly do: "swallow" }
  /** The connection ends before it arrives. */
  | { readonly do: "cut" }

interface Held {
  readonly frame: Frame
  readonly timer: NodeJS.Timeout
}

export interface DirectionOptions {
  readonly fateOf: (frame: Frame) => Fate | undefined
  readonly write: (bytes: Buffer) => void
  readonly cut: () => void
}

export class Direction {
  readonly #options: DirectionOptions
  /** Behind a frame that is late. */
  #queue: Array<Frame> | undefined
  #late: NodeJS.Timeout | undefined
  #held: Array<Held> = []
  #isOpen = true

  constructor(options: DirectionOptions) {
    this.#options = options
  }

  take(frame: Frame): void {
    if (!this.#isOpen) return
    if (this.#queue === undefined) this.#pass(frame)
    else this.#queue.push(frame)
  }

  close(): void {
    this.#isOpen = false
    clearTimeout(this.#late)
    for (const { timer } of this.#held) clearTimeout(timer)
  }

  #pass(frame: Frame): void {
    const { cut, fateOf, write } = this.#options
    // Frames of one subject keep their order; a frame that is not a message is overtaken by none.
    this.#release((held) => frame.subject === undefined || held.subject === frame.subject)
    const fate = fateOf(frame)
    switch (fate?.do) {
      case "swallow":
        break
      case "cut":
        cut()
        break
      case "overtake": {
        const timer = setTimeout(() => this.#release((held) => held === frame), fate.ms)
        this.#held.push({ frame, timer })
        break
      }
      case "delay":
        this.#queue = []
        this.#late = setTimeout(() => this.#goOn(frame), fate.ms)
        break
      default:
        write(frame.bytes)
        if (fate?.do === "repeat") write(frame.bytes)
    }
  }

  #goOn(frame: Frame): void {
    const queue = this.#queue ?? []
    this.#queue = undefined
    this.#options.write(frame.bytes)
    for (const next of queue) this.take(next)
  }

  #release(which: (frame: Frame) => boolean): void {
    const due = this.#held.filter(({ frame }) => which(frame))
    if (due.length === 0) return
    this.#held = this.#held.filter((held) => !due.includes(held))
    for (const { frame, timer } of due) {
      clearTimeout(timer)
      this.#options.write(frame.bytes)
    }
  }
}
