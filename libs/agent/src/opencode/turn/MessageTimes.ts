/**
 * Finds out that the clock of OpenCode's machine was set back. OpenCode orders a session's messages by the time at which
 * they were made (measured): the newest answer is then not the last one, so the model is called again and again until the
 * clock has caught up, or a prompt counts as answered by the turn before it. Pure.
 */

/** The parts of a message's record that matter here. */
export interface TimedMessage {
  readonly id: string
  readonly time: { readonly created: number }
}

/** After a smaller step the next answer is the newest again. A prompt has only one time. */
const smallestStepMs = 1000

/** The times of one session's messages, noted in the order in which the messages were made. */
export class MessageTimes {
  readonly #created = new Map<string, number>()
  readonly #late = new Set<string>()
  readonly #promptId: string | undefined
  /** Of the messages that existed before. */
  readonly #newestBefore: number
  #newest = Number.NEGATIVE_INFINITY
  #backMs = 0

  /** `before`: the messages that exist before, in any order. `promptId`: the message that is made next. */
  constructor(before: ReadonlyArray<TimedMessage> = [], promptId?: string) {
    for (const { id, time } of before) this.#add(id, time.created)
    this.#newestBefore = this.#newest
    this.#promptId = promptId
  }

  /** How far the clock was set back before one of the messages was made, in milliseconds; 0: not at all. */
  get backMs(): number {
    return this.#backMs
  }

  /** The messages that were made after the clock was set back. */
  get late(): ReadonlySet<string> {
    return this.#late
  }

  /** A message that was made or changed. A prompt that is sent again gets a new time. */
  note({ id, time }: TimedMessage): void {
    if (this.#created.get(id) === time.created) return
    const isPrompt = id === this.#promptId
    // The prompt may be noted after its answers, where its event was missed.
    const backMs = (isPrompt ? this.#newestBefore : this.#newest) - time.created
    if (backMs < (isPrompt ? 1 : smallestStepMs)) this.#add(id, time.created)
    else {
      this.setBack(backMs)
      if (!this.#created.has(id)) this.#late.add(id)
    }
  }

  /** The clock was set back that far, as another session of the same machine shows. */
  setBack(ms: number): void {
    this.#backMs = Math.max(this.#backMs, ms)
  }

  #add(id: string, created: number): void {
    this.#created.set(id, created)
    this.#newest = Math.max(this.#newest, created)
  }
}
