/**
 * From where on the work of a phase was verified, so that the same is looked at again before a reviewer or a person reads it, and
 * when the phase ends: quality gates can write git's store after the verification.
 */
import { type MovedLink, memoryOfObjects } from "@reprise/process"
import { Effect } from "effect"
import type { Place } from "../../actor/work.ts"
import { Git } from "../git/Git.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"
import type { VerifiedBase } from "../git/verifiedBase.ts"

interface Phase {
  readonly runId: string
  readonly phase: string
}

const readVerified = Effect.fnUntraced(function* (place: Place, { phase, runId }: Phase) {
  const found = yield* (yield* Git).verifiedBase(ownTreeFolder(place))
  return found?.runId === runId && found.phase === phase ? found : undefined
})

const keyOf = ({ before, now, path }: MovedLink) => [path, before, now].join("\0")

/** Of several verifications of a phase the base of the first counts, as long as the work stands on it. */
export const recordVerified = Effect.fnUntraced(function* (
  place: Place,
  of: Phase,
  base: string,
  commit: string,
  moved: ReadonlyArray<MovedLink>
) {
  const git = yield* Git
  const earlier = yield* readVerified(place, of)
  const isOnIt = earlier !== undefined && (yield* git.isAncestor(place.directory, earlier.base, commit))
  const { phase, runId } = of
  const all = [...(isOnIt ? (earlier.submodules ?? []) : []), ...moved]
  const submodules = [...new Map(all.map((one) => [keyOf(one), one])).values()]
  const from = isOnIt ? earlier.base : base
  yield* git.recordVerifiedBase(ownTreeFolder(place), { runId, phase, base: from, commit, submodules })
})

const falseBetween = Effect.fnUntraced(function* (
  place: Place,
  { base, submodules = [] }: VerifiedBase,
  head: string,
  graph?: "unread"
) {
  const git = yield* Git
  const { directory } = place
  const folder = ownTreeFolder(place)
  // One after the other: what the first one hashes, the other one finds in the same record.
  const work = yield* git.falsehoods(directory, base, head, { graph, memory: memoryOfObjects(folder) })
  const compared = yield* git.falseCompared(directory, folder, [])
  return [...work, ...compared, ...(yield* git.falseSubmodules(directory, submodules)).found]
})

/** What deceives whoever reads the verified work, or what gates compare it with, by now. */
export const falsifiedSince = Effect.fnUntraced(function* (place: Place, of: Phase, head: string) {
  const known = yield* readVerified(place, of)
  if (known === undefined || !(yield* (yield* Git).isAncestor(place.directory, known.base, head))) return []
  return yield* falseBetween(place, known, head)
})

/** The same for what was verified last, before somebody reads it who has no commit-graph. */
export const falsifiedByGates = Effect.fnUntraced(function* (place: Place, of: Phase) {
  const known = yield* readVerified(place, of)
  return known?.commit === undefined ? [] : yield* falseBetween(place, known, known.commit, "unread")
})
