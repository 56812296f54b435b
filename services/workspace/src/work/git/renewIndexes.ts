import { existsSync } from "node:fs"
import { Effect } from "effect"
import { Git } from "./Git.ts"
import { settleLocks } from "./leftLocks.ts"

/**
 * Has git forget what indexes say besides their entries, also where a killed git left a lock
 * (docs/design/workspace.md#what-gates-run-on). A tree that is gone has none.
 */
export const renewIndexes = Effect.fn("renewIndexes")(function* (workTree: string) {
  if (!existsSync(workTree)) return
  const renew = (yield* Git).renewIndexes(workTree)
  yield* renew.pipe(
    Effect.catchIf(
      (fault) => fault._tag === "GitFault" && fault.transient,
      () => Effect.andThen(settleLocks(workTree, "look"), renew)
    )
  )
})
