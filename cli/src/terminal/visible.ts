/** Makes untrusted text safe for a terminal: characters that would change how it is shown become visible. Pure. */

/** Control characters without tab and line feed: they move the cursor, set colours and titles, or delete. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this replaces control characters
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * Marks that reorder the text around them, characters without a width, and line separators, which make one text look
 * like another. The joiner of emoji and the selectors of their form stay.
 */
const disguising =
  /\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu

const hex = (char: string, width: number) => (char.codePointAt(0) ?? 0).toString(16).padStart(width, "0")

/** Makes text from agents and repositories safe for a terminal: `\x1b` and `\u{202e}` are shown, not executed. */
export const visible = (text: string): string =>
  text
    .replace(/\r\n/g, "\n")
    .replace(control, (char) => `\\x${hex(char, 2)}`)
    .replace(disguising, (char) => `\\u{${hex(char, 4)}}`)

/** The same for a line of JSON, which stays the same JSON: what `JSON.stringify` leaves as it is, in strings alone. */
export const visibleJson = (json: string): string =>
  [control, disguising].reduce(
    (text, characters) =>
      text.replace(characters, (char) =>
        Array.from({ length: char.length }, (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
          ""
        )
      ),
    json
  )

/**
 * Marks every line of a text as somebody else's words, and makes it safe: none of them looks like a line or a prompt of
 * Reprise.
 */
export const quotedLines = (text: string): string =>
  visible(text)
    .split("\n")
    .map((line) => `  | ${line}`)
    .join("\n")

/** The same for words that follow on our line: the lines after the first are marked. */
export const quotedRest = (text: string): string => visible(text).replaceAll("\n", "\n      | ")

/** The same for a text that belongs on one line, such as a title or a path: a line break is shown, too. */
export const visibleLine = (text: string): string => visible(text).replace(/\n/g, "\\n").replace(/\t/g, "\\t")
