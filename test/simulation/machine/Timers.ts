/** Timers by their time; those of the same time in the order in which they were set. A binary heap. */
export interface Timer<A> {
  readonly dueMs: number
  readonly order: number
  readonly value: A
}

const isBefore = (one: Timer<unknown>, other: Timer<unknown>): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order)

export class Timers<A> {
  readonly #heap: Array<Timer<A>> = []
  #order = 0

  add(dueMs: number, value: A): void {
    this.#order += 1
    const timer = { dueMs, order: this.#order, value }
    const heap = this.#heap
    let at = heap.length
    heap.push(timer)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = heap[above]
      if (parent === undefined || !isBefore(timer, parent)) break
      heap[at] = parent
      at = above
    }
    heap[at] = timer
  }

  first(): Timer<A> | undefined {
    return this.#heap[0]
  }

  takeFirst(): Timer<A> | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const [one, other] = [heap[left], heap[left + 1]]
      if (one === undefined) break
      const next = other !== undefined && isBefore(other, one) ? other : one
      if (!isBefore(next, last)) break
      heap[at] = next
      at = next === one ? left : left + 1
    }
    heap[at] = last
    return first
  }
}
