/**
 * Finds texts that nest, or might nest, so deeply that reading them as markdown would stop the page for many seconds, or fail.
 * Such a text is shown as it is written. Pure.
 */

/** Quotes and lists within each other. Nobody writes so many. */
const mostNested = 30
/** Signs that may begin or end something, in one paragraph. */
const mostSigns = 400

const signs: ReadonlySet<string> = new Set("*_~[]`<!")

/** What begins a quote or a list, and a blank. */
const mark = /[>\s]|[-+*](?=\s)|\d{1,9}[.)](?=\s)/y

/** How many quotes and lists a line begins with. */
const nestedIn = (line: string): number => {
  let nested = 0
  for (let at = 0; at < line.length; at = mark.lastIndex) {
    mark.lastIndex = at
    const [found] = mark.exec(line) ?? []
    if (found === undefined) break
    if (found.trim() !== "") nested += 1
  }
  return nested
}

const signsIn = (line: string): number => {
  let found = 0
  for (const character of line) if (signs.has(character)) found += 1
  return found
}

export const isCostly = (text: string): boolean => {
  let inParagraph = 0
  for (const line of text.split("\n")) {
    if (nestedIn(line) > mostNested) return true
    inParagraph = line.trim() === "" ? 0 : inParagraph + signsIn(line)
    if (inParagraph > mostSigns) return true
  }
  return false
}
