/**
 * What commands print, in the documents: a block stands between two comments, the first of which names its command. The
 * commands are called in the repository that `reprise demo` leaves behind. Pure.
 */
import { createHash } from "node:crypto"

const block =
  /(<!-- Output of '([^']+)', written by 'npm run record:outputs' -->\n)[\s\S]*?(\n<!-- End of the output -->)/g

/** In place of the demo's question in a command. */
export const questionPlaceholder = "QUESTION"

/** The commands that a page shows, without `reprise`. */
export const commandsIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(block)].map(([, , words = ""]) => words)

const shownRun = "rtou1va-c63dcaef"
const shownTime = "2026-11-21 09:12 UTC"

const now = "just now"
const age = /\b\d+ min ago(?= *│)/

/** A table whose column `since` is as wide as if nothing had taken long. */
const agelessTable = (output: string): string => {
  if (!age.test(output)) return output
  const lines = output.split("\n").map((line) => line.replace(age, (shown) => now.padEnd(shown.length)))
  const header = lines.find((line) => line.includes(" since ")) ?? ""
  const cell = header.indexOf("since")
  const end = header.indexOf("│", cell) - 1
  return lines
    .map((line) => (/^[┌├│└]/.test(line) ? line.slice(0, cell + now.length) + line.slice(end) : line))
    .join("\n")
}

/** Another machine, and another day, would print the same. */
export const normalised = (output: string): string =>
  agelessTable(output)
    .replaceAll(/\br[a-z0-9]{6}-[0-9a-f]{8}\b/g, shownRun)
    .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, shownTime)
    .replaceAll(/\b[0-9a-f]{40}\b/g, (hash) => createHash("sha1").update(`${hash.length}`).digest("hex"))
    .replaceAll(/\b\d+ min ago/g, "just now")
    .replaceAll(/\b\d+ tokens \(and \d+ from the cache\)/g, "28174 tokens (and 54572 from the cache)")
    .replaceAll(/\b\d+ % of its context used \(\d+ of/g, "7 % of its context used (8823 of")
    .replaceAll(/^(Answered: \S+ by ).*$/gm, "$1you")
    .trimEnd()

/** The page with these outputs, by command; it has no others. */
export const withOutputs = (page: string, outputs: ReadonlyMap<string, string>): string =>
  page.replaceAll(block, (_whole, begin: string, command: string, end: string) => {
    const output = outputs.get(command) ?? ""
    const typed = command.replace(questionPlaceholder, `${shownRun}-e1`)
    return `${begin}\n\`\`\`console\n$ reprise ${typed}\n${normalised(output)}\n\`\`\`\n${end}`
  })
