import { Effect } from "effect"
import { isOwnFile, mayContainOwnFiles } from "../files/ownFiles.ts"
import { Git } from "./Git.ts"

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

/** What is not committed in a working tree: changed and untracked paths, without the files that Reprise wrote. */
export const uncommittedPaths = Effect.fn("uncommittedPaths")(function* (directory: string) {
  const paths = yield* listDirty(directory)
  return paths.filter((path) => !isOwnFile(path))
})
