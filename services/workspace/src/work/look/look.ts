/** What can be looked at before a question is answered, as pages show it. As `@reprise/workspace/look`. */
import type { ConsoleChanges } from "@reprise/protocol"
import { Effect } from "effect"
import { fitPatch } from "./fitPatch.ts"
import { type Work, workSince } from "./workSince.ts"

export { gateLog, gateLogs } from "./gateLog.ts"
export type { FileDiff } from "./readDiff.ts"
export { workSince } from "./workSince.ts"

const longestText = 2 * 1024 * 1024
/** Of commits, of changed files, and of files that git does not know. */
const mostListed = 1_000

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((all, one) => all + one, 0)

/** Exported for tests. */
export const shownWork = ({ commits, files, untracked }: Work): ConsoleChanges => {
  const listed = fitPatch(files.slice(0, mostListed), longestText)
  const more = files.slice(mostListed)
  const left = (all: ReadonlyArray<unknown>) => Math.max(0, all.length - mostListed)
  return {
    commits: commits.slice(0, mostListed),
    untracked: untracked.slice(0, mostListed),
    files: listed,
    more: {
      commits: left(commits),
      untracked: left(untracked),
      files: more.length,
      added: sum(more.map(({ added }) => added)),
      removed: sum(more.map(({ removed }) => removed))
    },
    patch: {
      name: "changes",
      text: listed.map(({ text }) => text).join(""),
      omitted: sum(files.map(({ text }) => text.length)) - sum(listed.map(({ text }) => text.length))
    }
  }
}

/** The commits, changes and untracked files since a commit. Of a long patch the small files are whole. */
export const changesIn = (directory: string, base?: string) => Effect.map(workSince(directory, base), shownWork)
