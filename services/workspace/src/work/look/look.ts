/** What can be looked at before a question is answered, as pages show it. As `@reprise/workspace/look`. */
import { Effect } from "effect"
import { fitPatch } from "./fitPatch.ts"
import { workSince } from "./workSince.ts"

export { fitPatch } from "./fitPatch.ts"
export { gateLog, gateLogs } from "./gateLog.ts"
export { workSince } from "./workSince.ts"

const longestText = 2 * 1024 * 1024

const linesOf = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

/** The commits, changes and untracked files since a commit. Of a long patch the small files are whole. */
export const changesIn = (directory: string, base?: string) =>
  Effect.map(workSince(directory, base), ({ changes, commits, untracked }) => {
    const { files, text } = fitPatch(changes, longestText)
    return {
      commits: linesOf(commits),
      untracked: linesOf(untracked),
      files,
      patch: { name: "changes", text, omitted: changes.length - text.length }
    }
  })
