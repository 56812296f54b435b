/**
 * What a process and all that it starts are known by: a variable in the environment, which every descendant inherits.
 * A tool's shell is in a process group and session of its own and is adopted by init when its server is killed
 * (measured), so neither group nor parent finds it. Process ids are reused, marks are not.
 */
import { randomBytes } from "node:crypto"

/** `NAME=value`. */
export type Mark = `${string}=${string}`

/** As a part of an environment. */
export const variableOf = (mark: Mark): Readonly<Record<string, string>> => {
  const at = mark.indexOf("=")
  return { [mark.slice(0, at)]: mark.slice(at + 1) }
}

/** Of one start alone: a guard that is late must not end what the next owner started. */
export const newMark = (): Mark => `REPRISE_GUARDED=${randomBytes(12).toString("hex")}`
