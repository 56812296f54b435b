/**
 * Files that Reprise itself writes into a working tree. They never make it dirty (docs/design/workspace.md#workspace).
 */
import { fileNamesOfPhase, localSettings, phasesFolder, stateFolder } from "@reprise/process"

/**
 * Keeps Reprise's files out of `git status` and of an agent's `git add --all`, by `.git/info/exclude`. Whoever wants a
 * summary in the history adds it with `git add --force`; files that are tracked already are not excluded.
 */
export const excludePatterns = [
  `/${stateFolder}/`,
  `/${localSettings}`,
  ...fileNamesOfPhase.map((name) => `/${phasesFolder}/*/${name}`)
]

/** Whether `path` is one of `entries`, or lies in a directory among them (one that ends in `/`). */
export const isAmong = (path: string, entries: ReadonlyArray<string>): boolean =>
  entries.some((entry) => entry === path || (entry.endsWith("/") && path.startsWith(entry)))

/** The first `count` items as part of a sentence, and how many more there are. */
export const listSome = (items: ReadonlyArray<string>, count = 20): string =>
  items.length <= count ? items.join(", ") : `${items.slice(0, count).join(", ")} and ${items.length - count} more`
