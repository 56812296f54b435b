/** Words of others in prompts and sentences: on one line, in quotes, and not longer than what is read. */

/** Blanks and every end of a line: U+0085 is one, too. */
const blanks = /[\s\u0085]+/g

/** The text on one line, and no longer than `longest` characters. */
export const shorten = (text: string, longest: number): string => {
  const characters = [...text.replaceAll(blanks, " ").trim()]
  return characters.length <= longest ? characters.join("") : `${characters.slice(0, longest - 1).join("")}…`
}

/** The same in quotes whose end the text cannot write: for a name or words of others within a line. */
export const inQuotes = (text: string, longest: number): string => `"${shorten(text, longest).replaceAll('"', "'")}"`

/** A single word of letters, digits and what is common in names. */
const word = /^[\p{L}\p{N}._/@+=~-]+$/u

/** A name that others gave, within a line: in quotes, unless it is a single word. */
export const nameOf = (text: string, longest: number): string =>
  word.test(text) ? shorten(text, longest) : inQuotes(text, longest)

/** The path on one line and no longer than `longest` characters. Cut at its beginning: the end tells more. */
export const shortenPath = (path: string, longest: number): string => {
  const characters = [...path.replaceAll(blanks, " ").trim()]
  return characters.length <= longest ? characters.join("") : `…${characters.slice(1 - longest).join("")}`
}

/** The first items of a list for a sentence, and how many more there are. */
export const listSome = (items: ReadonlyArray<string>, count = 20): string =>
  items.length <= count ? items.join(", ") : `${items.slice(0, count).join(", ")} and ${items.length - count} more`
