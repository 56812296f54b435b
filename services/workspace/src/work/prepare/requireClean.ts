import { Effect } from "effect"
import { isAmong, listSome } from "../files/ownFiles.ts"
import { uncommittedPaths } from "../git/uncommittedPaths.ts"
import { refuse } from "./refusal.ts"

/**
 * Returns the uncommitted paths of a working tree, which the run then tolerates. Refuses them, with a list, unless the tree
 * may be dirty or they are among `tolerated`.
 */
export const requireClean = Effect.fnUntraced(function* (
  directory: string,
  allowDirty: boolean,
  tolerated: ReadonlyArray<string> = []
) {
  const dirty = yield* uncommittedPaths(directory)
  const unexpected = dirty.filter((path) => !isAmong(path, tolerated))
  if (unexpected.length > 0 && !allowDirty) {
    return yield* refuse(
      "dirty-tree",
      `${directory} has changes that are not committed: ${listSome(unexpected)}. Commit or stash them, or use --allow-dirty.`
    )
  }
  return dirty
})
