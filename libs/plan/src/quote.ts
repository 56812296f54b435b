/**
 * Untrusted text in prompts. An agent can write anything, also what reads like a paragraph of Reprise or of the user. So
 * whatever agents, commands and findings say stands in marked lines, and Reprise and humans alone write unmarked ones
 * (docs/design/sessions.md#untrusted-text).
 */

/** Everything that a reader, or a model, may take for the end of a line. */
const lineEnds = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

/** The text with `> ` before each line, and `>` for an empty one. The sentence before it is to say whose words these are. */
export const quote = (text: string): string =>
  text
    .split(lineEnds)
    .map((line) => (line.trim() === "" ? ">" : `> ${line}`))
    .join("\n")
