import { type Difference, localSettings, mayContainOwnFiles } from "@reprise/process"
import { Effect } from "effect"
import { Git } from "./Git.ts"

/** As part of a list for an author. */
export const told = ({ path, why }: Difference): string => (why === undefined ? path : `${path} (${why})`)

/**
 * Lists one entry per untracked directory, to stay short, except in directories where Reprise writes files of its own:
 * what else is in those is listed file by file.
 */
const listDirty = Effect.fnUntraced(function* (directory: string) {
  const git = yield* Git
  const whole = yield* git.dirty(directory, "whole")
  if (!whole.some((path) => path.endsWith("/") && mayContainOwnFiles(path))) return whole
  const each = yield* git.dirty(directory, "each")
  return [...whole.filter((path) => !mayContainOwnFiles(path)), ...each.filter(mayContainOwnFiles)]
})

/** Whether a change of the user's own settings is one of the repository: it is if they were committed. */
const hasLocalSettings = Effect.fnUntraced(function* (directory: string) {
  const git = yield* Git
  const head = yield* git.head(directory)
  return head !== undefined && (yield* git.entry(directory, head, localSettings)) !== undefined
})

/** The paths without the user's own settings. */
export const withoutLocalSettings = Effect.fnUntraced(function* (directory: string, paths: ReadonlyArray<string>) {
  if (!paths.includes(localSettings) || (yield* hasLocalSettings(directory))) return paths
  return paths.filter((path) => path !== localSettings)
})

/**
 * What is not committed in a working tree: changed and untracked paths, without the files that Reprise wrote and the
 * user's own settings.
 */
export const uncommittedPaths = Effect.fn("uncommittedPaths")(function* (directory: string) {
  return yield* withoutLocalSettings(directory, yield* listDirty(directory))
})
