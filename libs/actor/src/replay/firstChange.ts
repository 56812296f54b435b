/** The first difference between JSON that was stored and what stands in its place now, as data and in words. */

export interface Change {
  /** Names and indexes from the outside in. */
  readonly path: ReadonlyArray<string>
  readonly stored: unknown
  /** Undefined: nothing. */
  readonly now: unknown
}

type Container = Readonly<Record<string, unknown>> | ReadonlyArray<unknown>

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null

/** The parts that must be there. An array's length is one, so that a longer array is a change. */
const partsOf = (value: Container): ReadonlyArray<readonly [string, unknown]> =>
  Array.isArray(value) ? [...Object.entries(value), ["length", value.length]] : Object.entries(value)

/** The first stored value that is not there now. A field that is new is not a change: additions are allowed. */
export const firstChange = (stored: unknown, now: unknown, path: ReadonlyArray<string> = []): Change | undefined => {
  if (!isContainer(stored) || !isContainer(now) || Array.isArray(stored) !== Array.isArray(now)) {
    return stored === now ? undefined : { path, stored, now }
  }
  const present = new Map(partsOf(now))
  for (const [name, value] of partsOf(stored)) {
    const change = firstChange(value, present.get(name), [...path, name])
    if (change !== undefined) return change
  }
  return undefined
}

const longest = 160
const shownBefore = 20

const textOf = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value))

/** The part of a text in which it differs from the other. */
const excerpt = (text: string, from: number): string => {
  const end = from + longest
  return `${from > 0 ? "…" : ""}${text.slice(from, end)}${text.length > end ? "…" : ""}`
}

const firstDifferent = (one: string, other: string): number => {
  let same = 0
  while (same < one.length && one[same] === other[same]) same += 1
  return same
}

/** `PATH was OLD and would be NEW`, long values cut to where they differ. */
export const changeText = ({ now, path, stored }: Change): string => {
  const [before, after] = [textOf(stored), textOf(now)]
  const isShort = Math.max(before.length, after.length) <= longest
  const from = isShort ? 0 : Math.max(0, firstDifferent(before, after) - shownBefore)
  return `${path.length === 0 ? "it" : path.join(".")} was ${excerpt(before, from)} and would be ${excerpt(after, from)}`
}
