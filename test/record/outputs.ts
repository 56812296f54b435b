/**
 * What commands print, in the documents: a block stands between two comments, the first of which names its command. The
 * commands are called in the repository that `reprise demo` leaves behind; `init` in one that has nothing but a check.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const block =
  /(<!-- Output of '([^']+)', written by 'npm run record:outputs' -->\n)[\s\S]*?(\n<!-- End of the output -->)/g

/** In place of the demo's question in a command. */
const questionPlaceholder = "QUESTION"

/** The commands that a page shows, without `reprise`. */
export const commandsIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(block)].map(([, , words = ""]) => words)

const shownRun = "rtou1va-c63dcaef"
const shownTime = "2026-11-21 09:12 UTC"
const shownFolder = "/home/you/my-repository"
const shownCommits = ["c86a8c9e8d", "707e3514de", "25d24306e1"]
const shownSessions = ["ses_1", "ses_2", "ses_3", "ses_4"]

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .split("│")
    .slice(1, -1)
    .map((cell) => cell.trim())

const rule = (widths: ReadonlyArray<number>, [left, middle, right]: readonly [string, string, string]): string =>
  `${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}`

/** A table is as wide as what is in it now. */
const redrawn = (table: string): string => {
  const lines = table.split("\n")
  const rows = lines.map((line) => (line.startsWith("│") ? cellsOf(line) : undefined))
  const widths = (rows[1] ?? []).map((_, column) => Math.max(...rows.map((row) => row?.[column]?.length ?? 0)))
  return rows
    .map((row, index) => {
      if (row !== undefined) return `│ ${row.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(" │ ")} │`
      if (index === 0) return rule(widths, ["┌", "┬", "┐"])
      return rule(widths, index === rows.length - 1 ? ["└", "┴", "┘"] : ["├", "┼", "┤"])
    })
    .join("\n")
}

/** The same name for the same thing, in the order in which they appear. */
const renamed = (output: string, pattern: RegExp, names: ReadonlyArray<string>): string => {
  const known = [...new Set(output.match(pattern) ?? [])]
  return output.replaceAll(pattern, (found) => names[known.indexOf(found)] ?? found)
}

const shownTokens: Readonly<Record<string, string>> = {
  author: "19441 in, 446 out, 73577 cached",
  reviewer: "17983 in, 145 out, 8706 cached"
}
const shownCounts = ["9849 │ 237 │ 45981", "9256 │ 120 │ 8706", "9592 │ 209 │ 27596", "8727 │ 25 │ 0"]

/** What was used differs with the length of paths and with the day. */
const withCounts = (output: string): string => {
  let row = 0
  return output
    .replaceAll(
      /(│ (author|reviewer) +│ \d+ +│) \d+ in, \d+ out, \d+ cached +│/g,
      (_found, begin: string, role: string) => `${begin} ${shownTokens[role]} │`
    )
    .replaceAll(/(│ completed +│ \d+ +│) \d+ +│ \d+ +│ \d+ +│(?= ses_)/g, (_found, begin: string) => {
      const counts = shownCounts[row % shownCounts.length]
      row += 1
      return `${begin} ${counts} │`
    })
}

/** Another machine, and another day, would print the same. `folder`: where the command was called. */
export const normalised = (output: string, folder: string): string => {
  const text = output
    .replaceAll(folder, shownFolder)
    .replaceAll(/\br[a-z0-9]{6}-[0-9a-f]{8}\b/g, shownRun)
    .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, shownTime)
    .replaceAll(/\b\d+ min ago/g, "just now")
    .replaceAll(/\b\d+ tokens \(and \d+ from the cache\)/g, "28174 tokens (and 54572 from the cache)")
    .replaceAll(/\b\d+ % of its context used \(\d+ of/g, "7 % of its context used (8823 of")
    .replaceAll(/^(Answered: \S+ by ).*$/gm, "$1you")
    .replaceAll(/^(said by )(?!the ).*?( for the )/gm, "$1you$2")
  const counted = withCounts(text)
  const named = renamed(renamed(counted, /\bses_\w+/g, shownSessions), /\b[0-9a-f]{10}\b/g, shownCommits)
  return named.replaceAll(/^┌.*┐\n(?:[│├].*\n)+└.*┘$/gm, redrawn).trimEnd()
}

/** The page with these outputs, by command; it has no others. */
export const withOutputs = (page: string, outputs: ReadonlyMap<string, string>): string =>
  page.replaceAll(block, (_whole, begin: string, command: string, end: string) => {
    const typed = command.replace(questionPlaceholder, `${shownRun}-e1`)
    return `${begin}\n\`\`\`console\n$ reprise ${typed}\n${outputs.get(command) ?? ""}\n\`\`\`\n${end}`
  })

interface Recording {
  /** What the demo has left behind, and its run. */
  readonly demo: string
  readonly runId: string
  /** Where a folder may be made. */
  readonly folder: string
  /** Gives all that the command prints. */
  readonly call: (directory: string, words: ReadonlyArray<string>) => Promise<string>
}

const makeRepository = (folder: string): string => {
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: { test: "node --test" } }))
  execFileSync("git", ["init", "--quiet", folder])
  return folder
}

/** The outputs of the commands that a page shows. */
export const recordedOutputs = async (page: string, { call, demo, folder, runId }: Recording) => {
  const outputs = new Map<string, string>()
  for (const command of commandsIn(page)) {
    const isNew = command.startsWith("init")
    const directory = isNew ? makeRepository(join(folder, `new-${outputs.size}`)) : demo
    const words = command.replace(questionPlaceholder, `${runId}-e1`).split(" ")
    outputs.set(command, normalised(await call(directory, words), directory))
  }
  return outputs
}
