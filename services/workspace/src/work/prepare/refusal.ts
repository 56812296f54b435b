/** Why a working tree must not be used for a run: a decision, not a failure. */
import { Effect } from "effect"
import type { WorkspaceFact } from "../../actor/inputs.ts"
import { isAmong, listSome } from "../files/ownFiles.ts"
import { uncommittedPaths } from "../git/uncommittedPaths.ts"

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
 * tree may be dirty or they are among `tolerated`.
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
