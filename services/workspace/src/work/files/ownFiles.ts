/**
 * Files that Reprise itself writes into a working tree. They never make it dirty (docs/design/workspace.md#workspace).
 */

/** The user's own settings, in the root of the repository; not if the repository has a file of this name. */
export const localSettings = "reprise.local.toml"

/**
 * Keeps Reprise's files out of `git status` and of an agent's `git add --all`, by `.git/info/exclude`. Whoever wants a
 * summary in the history adds it with `git add --force`; files that are tracked already are not excluded.
 */
export const excludePatterns = [
  "/.reprise/",
  `/${localSettings}`,
  "/.planning/phases/*/.continuation-state.json",
  "/.planning/phases/*/.continuation-state.json.tmp",
  "/.planning/phases/*/SUMMARY.md",
  "/.planning/phases/*/SUMMARY.md.tmp"
] as const

/** Whether `path` is one of `entries`, or lies in a directory among them (one that ends in `/`). */
export const isAmong = (path: string, entries: ReadonlyArray<string>): boolean =>
  entries.some((entry) => entry === path || (entry.endsWith("/") && path.startsWith(entry)))

/** The first `count` items as part of a sentence, and how many more there are. */
export const listSome = (items: ReadonlyArray<string>, count = 20): string =>
  items.length <= count ? items.join(", ") : `${items.slice(0, count).join(", ")} and ${items.length - count} more`
