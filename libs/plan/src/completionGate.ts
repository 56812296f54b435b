/** `**Completion gate:** …`: what a phase says about when it is complete; a paragraph or a list item of its own. */
const gatePattern = /^\*\*completion gate(?::\s*\*\*|\*\*\s*:)(.*)$/is

/** The gate's text on one line, or nothing when this paragraph is no gate. It may be empty: then the next block says it. */
export const readCompletionGate = (paragraph: string): string | undefined =>
  gatePattern.exec(paragraph)?.[1]?.replaceAll(/\s+/g, " ").trim()

/** A gate on a later line of a paragraph: markdown takes it for part of that paragraph. */
export const gateAfterFirstLine = (paragraph: string): boolean =>
  /[\r\n][ \t]*\*\*completion gate(?::\s*\*\*|\*\*\s*:)/i.test(paragraph)
