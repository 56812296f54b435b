import { rmdir } from "node:fs/promises"
import { join, relative } from "node:path"
import { readForeignFolder } from "@reprise/process"
import { Effect } from "effect"
import { listSome } from "./ownFiles.ts"
import { withParent } from "./withParent.ts"

/** Of one folder; one with more stays. */
const mostEntries = 10_000

/** The folder after those in it. `root`: nothing outside of it is reached. */
const removeFolder = async (root: string, folder: string): Promise<void> => {
  for (const { name } of (await readForeignFolder(folder, { mostEntries })) ?? []) {
    await removeFolder(root, join(folder, name))
  }
  await withParent(root, folder, "remove", (parent, name) => rmdir(join(parent.path, name)))
}

/**
 * Removes folders of a working tree that hold nothing but folders, as git does when it checks out a commit, and gives those that
 * are gone. One that holds anything else by then stays, as far as it does. `folders`: absolute.
 */
export const removeEmptyFolders = Effect.fn("removeEmptyFolders")(function* (
  root: string,
  folders: ReadonlyArray<string>
) {
  const removed = yield* Effect.filter(folders, (folder) =>
    Effect.promise(() =>
      removeFolder(root, folder).then(
        () => true,
        () => false
      )
    )
  )
  if (removed.length > 0) {
    const named = listSome(removed.map((folder) => relative(root, folder)))
    yield* Effect.logInfo(`Removed folders without files from ${root}, since no commit can hold them: ${named}.`)
  }
  return removed
})
