/** Texts of plans, agents and humans as part of a line whose length has a limit. */

/** On one line, and no longer than `longest` characters. */
export const shorten = (text: string, longest: number): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  const letters = [...line]
  return letters.length <= longest ? line : `${letters.slice(0, longest - 1).join("")}…`
}

/** The first of a list for a sentence, and how many more there are. */
export const someOf = (items: ReadonlyArray<string>, count = 20): string =>
  items.length <= count ? items.join(", ") : `${items.slice(0, count).join(", ")} and ${items.length - count} more`

/** The end of a path tells more than its beginning. */
export const shortenPath = (path: string, longest: number): string => {
  const letters = [...path.replaceAll(/\s+/g, " ").trim()]
  return letters.length <= longest ? letters.join("") : `…${letters.slice(1 - longest).join("")}`
}
