/** Patterns with wildcards, over letters, words or names of folders. Pure. */

interface Reading<P, A> {
  /** Stands for any number of items, none included. */
  readonly isAny: (pattern: P) => boolean
  readonly matches: (pattern: P, item: A) => boolean
  /** An item that may turn out to be any number of items. Absent: there are none. */
  readonly isUnknown?: (item: A) => boolean
}

/** Whether the items match, or may match, the pattern. Takes time in proportion to both lengths, whatever they hold. */
export const matchesPattern = <P, A>(
  pattern: ReadonlyArray<P>,
  items: ReadonlyArray<A>,
  { isAny, isUnknown = () => false, matches }: Reading<P, A>
): boolean => {
  /** Whether the first n items match the part of the pattern that was read. */
  let reached = [true]
  for (const item of items) reached.push(reached.at(-1) === true && isUnknown(item))
  for (const part of pattern) {
    const any = isAny(part)
    const next = [reached[0] === true && any]
    for (const [n, item] of items.entries()) {
      const skipsItem = next[n] === true && (any || isUnknown(item))
      const skipsPart = reached[n + 1] === true && (any || isUnknown(item))
      const both = reached[n] === true && (any || isUnknown(item) || matches(part, item))
      next.push(skipsItem || skipsPart || both)
    }
    reached = next
  }
  return reached[items.length] === true
}

/** Whether a text matches a pattern in which `*` stands for any letters. */
export const matchesText = (pattern: string, text: string): boolean => {
  const parts = pattern.split("*")
  const [first = "", last = ""] = [parts[0], parts.at(-1)]
  if (parts.length === 1) return pattern === text
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
