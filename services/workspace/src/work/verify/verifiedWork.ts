/**
 * From where on the work of a phase was verified, so that the phase's end can look at the same again: quality gates can write git's
 * store after the verification.
 */
import { Effect } from "effect"
import type { Place } from "../../actor/work.ts"
import { Git } from "../git/Git.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"

interface Phase {
  readonly runId: string
  readonly phase: string
}

const readBase = Effect.fnUntraced(function* (place: Place, { phase, runId }: Phase) {
  const found = yield* (yield* Git).verifiedBase(ownTreeFolder(place))
  return found?.runId === runId && found.phase === phase ? found.base : undefined
})

/** Of several verifications of a phase the first counts, as long as the work stands on its base. */
export const recordVerified = Effect.fnUntraced(function* (place: Place, of: Phase, base: string, commit: string) {
  const git = yield* Git
  const earlier = yield* readBase(place, of)
  if (earlier !== undefined && (yield* git.isAncestor(place.directory, earlier, commit))) return
  const { phase, runId } = of
  yield* git.recordVerifiedBase(ownTreeFolder(place), { runId, phase, base })
})

/** What deceives whoever reads the verified work, or what gates compare it with, by now. */
export const falsifiedSince = Effect.fnUntraced(function* (place: Place, of: Phase, head: string) {
  const git = yield* Git
  const { directory } = place
  const base = yield* readBase(place, of)
  if (base === undefined || !(yield* git.isAncestor(directory, base, head))) return []
  const [work, compared] = yield* Effect.all(
    [git.falsehoods(directory, base, head), git.falseCompared(directory, ownTreeFolder(place), [])],
    { concurrency: 2 }
  )
  return [...work, ...compared]
})
