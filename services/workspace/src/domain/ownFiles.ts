/** The files that Reprise itself writes into a working tree. They never make it dirty (workspace: Verify a commit). */

/**
 * Kept out of `git status`, and of an agent's `git add --all`, by `.git/info/exclude`. Whoever wants a summary in the
 * history adds it with `git add --force`; what is tracked is not excluded.
 */
export const excludePatterns = [
  "/.reprise/",
  "/.planning/**/.continuation-state.json",
  "/.planning/**/.continuation-state.json.tmp",
  "/.planning/phases/*/SUMMARY.md",
  "/.planning/phases/*/SUMMARY.md.tmp"
] as const

/** Where Reprise's files may lie next to those of others. */
export const ownDirectory = ".planning/"

const ownName = /^(\.continuation-state\.json(\.tmp)?|SUMMARY\.md(\.tmp)?)$/

/** `path`: relative to the working tree, with `/`. */
export const isOwnFile = (path: string): boolean => {
  if (path.startsWith(".reprise/")) return true
  return path.startsWith(ownDirectory) && ownName.test(path.slice(path.lastIndexOf("/") + 1))
}

/** Whether `path` is one of `entries`, or lies in one that names a directory (ends in `/`). */
export const isAmong = (path: string, entries: ReadonlyArray<string>): boolean =>
  entries.some((entry) => entry === path || (entry.endsWith("/") && path.startsWith(entry)))

/** The first `count` of a list for a sentence, and how many more there are. */
export const some = (items: ReadonlyArray<string>, count = 20): string =>
  items.length <= count ? items.join(", ") : `${items.slice(0, count).join(", ")} and ${items.length - count} more`
