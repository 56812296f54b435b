/**
 * Whether a history of concurrent operations on one object could have happened one after the other, each between its call
 * and its return (linearizability), by the search of Wing and Gong, which remembers what it has tried as Lowe's does.
 */

/** One call. Times are of one clock, in any unit. */
export interface Operation<Input, Output> {
  readonly input: Input
  /** Undefined: nobody knows what came of it. It may have happened at any time after its call, or never. */
  readonly output: Output | undefined
  readonly calledAt: number
  readonly returnedAt: number
}

/** What an operation does to one object, when nothing else happens at the time. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /**
   * The state after an operation with this output; undefined when it cannot give this output in this state. `output` is
   * undefined when it is not known: then the state after it, whatever it gave.
   */
  readonly step: (state: State, input: Input, output: Output | undefined) => State | undefined
  /** The same text for the same state. */
  readonly show: (state: State) => string
}

const isOpen = <Input, Output>({ output }: Operation<Input, Output>) => output === undefined

/** Undefined: it is linearizable. Else the operations of the longest order that fits, and those that fit nowhere. */
export const findViolation = <State, Input, Output>(
  model: Model<State, Input, Output>,
  history: ReadonlyArray<Operation<Input, Output>>
): string | undefined => {
  const operations = history.toSorted((one, other) => one.calledAt - other.calledAt)
  const tried = new Set<string>()
  const taken = operations.map(() => false)
  const order: Array<number> = []
  let longest: ReadonlyArray<number> = []

  /** Those that may be next: called before any other that is left has returned. */
  const candidates = (): ReadonlyArray<number> => {
    const left = operations.flatMap((operation, index) => (taken[index] === true ? [] : [{ operation, index }]))
    const firstReturn = Math.min(...left.map(({ operation }) => (isOpen(operation) ? Infinity : operation.returnedAt)))
    return left.flatMap(({ operation, index }) => (operation.calledAt <= firstReturn ? [index] : []))
  }

  const search = (state: State): boolean => {
    if (operations.every((operation, index) => taken[index] === true || isOpen(operation))) return true
    const name = `${taken.map(Number).join("")} ${model.show(state)}`
    if (tried.has(name)) return false
    tried.add(name)
    for (const index of candidates()) {
      const operation = operations[index]
      if (operation === undefined) continue
      const next = model.step(state, operation.input, operation.output)
      if (next === undefined) continue
      taken[index] = true
      order.push(index)
      if (order.length > longest.length) longest = [...order]
      if (search(next)) return true
      order.pop()
      taken[index] = false
    }
    return false
  }

  if (search(model.initial)) return undefined
  const text = (index: number) => JSON.stringify(operations[index])
  const rest = operations.flatMap((operation, index) => (longest.includes(index) || isOpen(operation) ? [] : [index]))
  return `No order fits. After\n  ${longest.map(text).join("\n  ")}\nnone of these fits:\n  ${rest.map(text).join("\n  ")}`
}
