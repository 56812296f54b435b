/** Words of programs for the shell. Pure. */

export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const isThere = (path: string) => `{ [ -e ${path} ] || [ -L ${path} ]; }`
