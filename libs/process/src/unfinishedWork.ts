/**
 * Work of git that has begun and waits to be finished. The next commit, also one that the user makes after the run, would have the
 * parents or the author that stand there, whatever was verified.
 */
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { Difference } from "./committedTree.ts"

const commands = {
  MERGE_HEAD: "merge",
  MERGE_AUTOSTASH: "merge",
  CHERRY_PICK_HEAD: "cherry-pick",
  REVERT_HEAD: "revert",
  "rebase-merge": "rebase",
  "rebase-apply": "rebase"
} as const

/** What waits in git's folder of a working tree (absolute), as differences from a commit. */
export const unfinishedWork = (gitDirectory: string): Effect.Effect<ReadonlyArray<Difference>> =>
  Effect.promise(async () => {
    const found = await Promise.all(
      Object.entries(commands).map(async ([name, command]) => {
        const isThere = (await lstat(join(gitDirectory, name)).catch(() => undefined)) !== undefined
        const why = `says that a ${command} is not finished: finish it, or end it with 'git ${command} --quit'`
        return isThere ? [{ path: `git's ${name}`, why }] : []
      })
    )
    return found.flat()
  })
