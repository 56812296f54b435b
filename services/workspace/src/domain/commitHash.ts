/**
 * Agents name commits by text. Only hashes, whole or short, are looked at; options, ranges and names such as HEAD, which
 * stand for something else a moment later, never reach git (workspace: Verify a commit).
 */
const hash = /^[0-9a-fA-F]{4,64}$/

export const isCommitName = (text: string): boolean => hash.test(text)

/** Text of an agent as part of a sentence: one line, printable, short. */
export const quoted = (text: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is to be hidden
  const plain = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "?")
  return `'${plain.length > 80 ? `${plain.slice(0, 79)}…` : plain}'`
}
