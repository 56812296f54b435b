import { Effect } from "effect"
import { isCommitName } from "./domain/commitHash.ts"
import { Git } from "./Git.ts"

/**
 * The newest commit that HEAD shares with `base`, from which work can still be counted when the history was rewritten;
 * undefined where HEAD leads to `base`, or nothing is shared.
 */
export const rewrittenBase = Effect.fn("rewrittenBase")(function* (directory: string, base: string) {
  const git = yield* Git
  const head = yield* git.head(directory)
  if (head === undefined || !isCommitName(base)) return undefined
  const [object] = yield* git.describe(directory, [base])
  if (object?._tag !== "Found" || object.type !== "commit") return undefined
  const shared = yield* git.mergeBase(directory, object.hash, head)
  return shared === object.hash ? undefined : shared
})
