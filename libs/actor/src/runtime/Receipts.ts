/** An actor's memory of the command ids it handled, oldest forgotten first. */
export interface Receipts {
  /** The journal sequence of the decision, 0 for a refusal; undefined: not handled, or forgotten. */
  readonly sequenceOf: (id: string) => number | undefined
  readonly add: (id: string, sequence: number) => void
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
    all: () => [...sequences]
  }
}
