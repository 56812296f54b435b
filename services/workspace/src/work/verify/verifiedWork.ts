/**
 * From where on the work of a phase was verified, so that the phase's end can look at the same again: quality gates can write git's
 * store after the verification. The record is beside Reprise's own index of the tree, where no command can write.
 */
import { readForeignText, replaceFile } from "@reprise/process"
import { Effect, Result, Schema } from "effect"
import type { Place } from "../../actor/work.ts"
import { HostFault } from "../faults.ts"
import { Git } from "../git/Git.ts"
import { ownTreeFolder } from "../git/ownTreeFolder.ts"

const Verified = Schema.fromJsonString(
  Schema.Struct({ runId: Schema.String, phase: Schema.String, base: Schema.String })
)
const decode = Schema.decodeUnknownResult(Verified)

interface Phase {
  readonly runId: string
  readonly phase: string
}

const recordOf = (place: Place) => `${ownTreeFolder(place)}-verified.json`

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new HostFault({ operation: "recording from where on the work was verified", cause })
  })

const readBase = Effect.fnUntraced(function* (place: Place, { phase, runId }: Phase) {
  const text = yield* attempt(() => readForeignText(recordOf(place), { largestBytes: 64 * 1024, follow: false }))
  const found = text === undefined ? undefined : Result.getOrUndefined(decode(text))
  return found?.runId === runId && found.phase === phase ? found.base : undefined
})

/** Of several verifications of a phase the first counts, as long as the work stands on its base. */
export const recordVerified = Effect.fnUntraced(function* (place: Place, of: Phase, base: string, commit: string) {
  const git = yield* Git
  const earlier = yield* readBase(place, of)
  if (earlier !== undefined && (yield* git.isAncestor(place.directory, earlier, commit))) return
  const { phase, runId } = of
  yield* attempt(() => replaceFile(recordOf(place), JSON.stringify({ runId, phase, base })))
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
