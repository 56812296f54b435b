/** Text of agents and repositories, made safe to look at. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: this replaces control characters
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** Marks that reorder the text around them, and characters without a width: they make one text look like another. */
const disguising =
  /\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu

const codeOf = (char: string) => (char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")

/** What would change how text is shown is shown instead: `\u{202e}`. */
export const visible = (text: string): string =>
  text
    .replace(/\r\n/g, "\n")
    .replace(control, (char) => `\\u{${codeOf(char)}}`)
    .replace(disguising, (char) => `\\u{${codeOf(char)}}`)

/** The same for what stands in one line, such as the name of a file. */
export const visibleLine = (text: string): string =>
  visible(text.replaceAll(/[\t\n\r]/g, (char) => `\\u{${codeOf(char)}}`))
