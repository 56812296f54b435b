import { Effect } from "effect"
import { isOwnFile, ownDirectory } from "./domain/ownFiles.ts"
import { Git } from "./Git.ts"

/**
 * What is not committed in a working tree, Reprise's own files left out. An untracked directory is one entry, so that
 * the list stays short, but for those in which Reprise writes.
 */
export const foreignDirt = Effect.fn("foreignDirt")(function* (directory: string) {
  const git = yield* Git
  const whole = yield* git.dirty(directory, "whole")
  const mixed = (path: string) => path.startsWith(ownDirectory)
  const paths = whole.some((path) => path.endsWith("/") && mixed(path))
    ? [...whole.filter((path) => !mixed(path)), ...(yield* git.dirty(directory, "each")).filter((path) => mixed(path))]
    : whole
  return paths.filter((path) => !isOwnFile(path))
})
