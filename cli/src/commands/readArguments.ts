/** What was typed, made plain for the parser. Pure. */

/** Flags whose value is anybody's words. */
const wordy: ReadonlySet<string> = new Set(["--guidance", "--reason"])

/** Words that begin with a dash, such as an item of a list. A lone dash is standard input, and flags have no blanks. */
const looksLikeFlags = (value: string | undefined): value is string =>
  value?.startsWith("-") === true && /\s/.test(value)

/** Binds the value of a wordy flag to it, where it would be taken for flags. */
export const readArguments = (typed: ReadonlyArray<string>): ReadonlyArray<string> => {
  const read: Array<string> = []
  for (let at = 0; at < typed.length; at += 1) {
    const argument = typed[at] ?? ""
    const value = typed[at + 1]
    if (wordy.has(argument) && looksLikeFlags(value)) {
      read.push(`${argument}=${value}`)
      at += 1
    } else read.push(argument)
  }
  return read
}
