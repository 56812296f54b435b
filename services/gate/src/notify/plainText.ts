/** Text of agents and repositories for messages that others show. Pure. */

/** Control characters but the line feed, marks that reorder or hide text, and lone surrogates. */
const unwanted =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this replaces control characters
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udfff]|[\u{e0000}-\u{e0fff}]/gu

/** At most `longest` characters, none of which changes how others are shown; `…` at the end: something was left out. */
export const plainText = (text: string, longest: number): string => {
  // Long texts are cut before they are looked at; a character has two units at most.
  const characters = Array.from(
    text
      .slice(0, 2 * longest + 2)
      .replace(/\r\n/g, "\n")
      .replaceAll("\t", " ")
      .replace(unwanted, "\ufffd")
      .trim()
  )
  const isCut = characters.length > longest || text.length > 2 * longest + 2
  return isCut
    ? `${characters
        .slice(0, longest - 1)
        .join("")
        .trimEnd()}…`
    : characters.join("")
}

/** The beginning of a text that takes at most `most` of whatever `sizeOf` counts for a character; `…`: there was more. */
export const fitText = (text: string, most: number, sizeOf: (character: string) => number): string => {
  const characters = Array.from(text)
  const ellipsis = sizeOf("…")
  let [size, kept, keptWithEllipsis] = [0, 0, 0]
  for (const character of characters) {
    size += sizeOf(character)
    if (size > most) return `${characters.slice(0, keptWithEllipsis).join("")}…`
    kept += 1
    if (size + ellipsis <= most) keptWithEllipsis = kept
  }
  return text
}

/** For receivers that read these three as markup. */
export const escapeMarkup = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Bytes of a character in UTF-8. */
export const utf8Size = (character: string): number => {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x10000 ? 3 : 4
}
