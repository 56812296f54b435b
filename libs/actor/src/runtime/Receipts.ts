/**
 * An actor's memory of the inputs it handled, by message id. It makes handling effectively once: a message that is
 * delivered again is recognised here, and what it led to is sent again instead of decided again.
 *
 * It remembers a limited number of ids, the oldest forgotten first. What it does not know is looked up in the streams
 * when it may be a repeat (`earlierAnswers.ts`).
 */
export interface Receipts {
  /** The journal sequence of the decision, 0 for a refusal; undefined: not handled, or forgotten. */
  readonly sequenceOf: (id: string) => number | undefined
  /** Remembers an id as the newest. */
  readonly add: (id: string, sequence: number) => void
  /** As many are kept as may be, so others may have been forgotten. */
  readonly isFull: () => boolean
  /** Oldest first, as a snapshot keeps them. */
  readonly all: () => ReadonlyArray<readonly [id: string, sequence: number]>
}

export const makeReceipts = (kept: number, known: Iterable<readonly [string, number]> = []): Receipts => {
  const sequences = new Map<string, number>(known)
  return {
    sequenceOf: (id) => sequences.get(id),
    add: (id, sequence) => {
      sequences.delete(id)
      sequences.set(id, sequence)
      if (sequences.size <= kept) return
      const oldest = sequences.keys().next()
      if (!oldest.done) sequences.delete(oldest.value)
    },
    isFull: () => sequences.size >= kept,
    all: () => [...sequences]
  }
}
