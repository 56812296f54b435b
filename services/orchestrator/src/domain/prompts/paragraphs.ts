/** The parts that say something, with a blank line between them. */
export const paragraphs = (...parts: ReadonlyArray<string>): string =>
  parts.filter((part) => part.trim() !== "").join("\n\n")

const introduction = "The user has provided the following additional guidance:"

/** At the end of a prompt, word for word. */
export const guidanceText = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? "" : `${introduction}\n${texts.join("\n\n")}`
