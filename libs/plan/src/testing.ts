/** For tests of prompts. */

/** The lines of a prompt that Reprise or a human may have written: everybody else's begin with `>`. */
export const linesWithoutMark = (prompt: string): ReadonlyArray<string> =>
  prompt.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/).filter((line) => !line.startsWith(">"))
