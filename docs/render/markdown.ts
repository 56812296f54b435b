/** Small pieces of markdown. */

export const code = (text: string): string => `\`${text}\``

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ")

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

/** Joins blocks with one empty line between them. */
export const page = (blocks: ReadonlyArray<string>): string =>
  `${blocks.filter((block) => block !== "").join("\n\n")}\n`

export const generated = (from: string): string => `<!-- Written by 'npm run docs' from ${from}. Do not edit. -->`
