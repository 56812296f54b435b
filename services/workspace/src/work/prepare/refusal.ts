import { Effect } from "effect"
import type { WorkspaceFact } from "../../actor/inputs.ts"
import { isAmong, listSome } from "../files/ownFiles.ts"
import { recordTolerated, withoutTolerated } from "../files/toleratedFiles.ts"
import { Git } from "../git/Git.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"
import { told, uncommittedPaths } from "../git/uncommittedPaths.ts"

type RefusalKind = Extract<WorkspaceFact, { readonly _tag: "WorkspaceRefused" }>["kind"]

/** Ends preparing with `WorkspaceRefused`. */
export class Refused {
  readonly _tag = "Refused"
  readonly kind: RefusalKind
  readonly reason: string
  constructor(kind: RefusalKind, reason: string) {
    this.kind = kind
    this.reason = reason
  }
}

export const refuse = (kind: RefusalKind, reason: string) => Effect.fail(new Refused(kind, reason))

/**
 * Returns the uncommitted paths of a working tree, which the run then tolerates. Refuses them, with a list, unless the
 * tree may be dirty or they are among `tolerated`, as they were when these were recorded.
 */
export const requireClean = Effect.fnUntraced(function* (
  tree: { readonly directory: string; readonly root: string },
  allowDirty: boolean,
  tolerated: ReadonlyArray<string> = []
) {
  const { directory } = tree
  const git = yield* Git
  const seen = yield* uncommittedPaths(directory)
  const differences = yield* git.differences(directory, ownTreeFolder(tree), "before")
  const unseen = differences.filter(({ why }) => why !== undefined)
  const dirty = [...new Set([...seen, ...unseen.map(({ path }) => path)])]
  const reasons = new Map(unseen.map((one) => [one.path, told(one)]))
  const others = dirty.filter((path) => !isAmong(path, tolerated)).map((path) => reasons.get(path) ?? path)
  const before = differences.filter(({ path }) => isAmong(path, tolerated))
  const { differences: since } = yield* withoutTolerated({ ...tree, tolerated }, before)
  const unexpected = [...others, ...since.map(told)]
  if (unexpected.length > 0 && !allowDirty) {
    return yield* refuse(
      "dirty-tree",
      `${directory} has changes that are not committed: ${listSome(unexpected)}. Commit or stash them, or use --allow-dirty.`
    )
  }
  yield* recordTolerated({ ...tree, tolerated: dirty })
  // Without a record a reviewer is told none of them.
  yield* Effect.ignore(git.recordInstructions(directory, tree.root), { log: "Warn" })
  return dirty
})
