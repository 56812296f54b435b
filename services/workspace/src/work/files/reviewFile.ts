/**
 * The review file alone may be uncommitted, and Reprise commits it: so it must be a file. A reviewer would write through a link that
 * an author has put there, and the history would have the author's file for the review.
 */
import type { Difference } from "@reprise/process"
import { Effect } from "effect"
import { Git } from "../git/Git.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"

const difference = (path: string, why: string): Difference => ({ path, why })

/** What is wrong with the review file; undefined: it is a file, or there is none. `path`: relative, normalized. */
export const reviewFileProblem = Effect.fn("reviewFileProblem")(function* (
  directory: string,
  head: string | undefined,
  path: string
) {
  const git = yield* Git
  const committed = head === undefined ? undefined : yield* git.entry(directory, head, path)
  if (committed === "other")
    return difference(path, "is where the review is written, and no plain file in HEAD: take it out of the commit")
  const files = yield* WorkspaceFiles
  if (yield* files.isNoFile(directory, path))
    return difference(path, "is where the review is written, and no plain file: remove it")
  const found = yield* files.kind(directory, path)
  return found === undefined && committed === "file"
    ? difference(path, "is the review that HEAD has, and is gone: restore it")
    : undefined
})
