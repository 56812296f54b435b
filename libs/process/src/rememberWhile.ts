/** Answers that stay right as long as the files that they came from are the same ones. */
import { stat } from "node:fs/promises"

interface State {
  readonly text: string
  /** When it last became another, in milliseconds. */
  readonly since: number
}

/** Tells one state of a file from any other; of a folder, in which git makes files all the time, whether it is the same. */
const stateOf = async (path: string): Promise<State> => {
  const found = await stat(path, { bigint: true }).catch(() => undefined)
  if (found === undefined) return { text: "", since: 0 }
  const own = [found.dev, found.ino]
  if (found.isDirectory()) return { text: own.join(" "), since: 0 }
  return { text: [...own, found.size, found.mtimeNs, found.ctimeNs].join(" "), since: Number(found.ctimeMs) }
}

/** The clock by which a file system says when a file changed moves in steps of this. */
const clockStepMs = 100

/**
 * Remembers answers, each as long as the files that it came from are the same ones; of a folder only that it is the same folder
 * counts. `filesOf`: absolute paths, of which any may be missing. A rejected answer is not remembered.
 */
export const rememberWhile = <A>(filesOf: (answer: A) => ReadonlyArray<string>) => {
  const known = new Map<string, { readonly of: string; readonly answer: A }>()
  const statesOf = (answer: A) => Promise.all(filesOf(answer).map(stateOf))
  const textOf = (states: ReadonlyArray<State>) => states.map(({ text }) => text).join("\n")
  return async (question: string, find: () => Promise<A>): Promise<A> => {
    const before = known.get(question)
    if (before !== undefined && before.of === textOf(await statesOf(before.answer))) return before.answer
    const asked = Date.now()
    const answer = await find()
    const states = await statesOf(answer)
    // One that changes about now may have been another when git read it.
    if (states.every(({ since }) => since < asked - clockStepMs)) known.set(question, { of: textOf(states), answer })
    return answer
  }
}
