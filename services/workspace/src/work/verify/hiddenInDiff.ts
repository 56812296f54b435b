/** What the diff of the work does not show to whoever reads it: commits of submodules, and what merges have left out. */
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { withoutLogin } from "@reprise/process"
import { Effect } from "effect"
import { listSome } from "../files/ownFiles.ts"
import type { Merges } from "../git/changedMerges.ts"
import { quoted } from "../git/commitNames.ts"
import { Git } from "../git/Git.ts"
import type { MovedSubmodule } from "../git/movedSubmodules.ts"

const short = (hash: string) => hash.slice(0, 12)

/** A path without an address may have come from others, with a merge: then nothing is there. */
const isHere = (directory: string, path: string) =>
  Effect.promise(() =>
    lstat(join(directory, path, ".git")).then(
      () => true,
      () => false
    )
  )

/** Why the author must commit more; undefined: none of the submodules is a repository that exists here alone. */
export const unshared = Effect.fn("unshared")(function* (directory: string, moved: ReadonlyArray<MovedSubmodule>) {
  const without = moved.filter(({ url }) => url === undefined)
  const here = yield* Effect.filter(without, ({ path }) => isHere(directory, path))
  return here.length === 0
    ? undefined
    : `Committed only as the name of a commit in another repository, for which .gitmodules has no url: ${listSome(here.map(({ path }) => quoted(path)))}. What is in it exists here alone. Commit its files: move its .git out of the tree, 'git rm --cached PATH', 'git add PATH'. Or make it a submodule that others can get: 'git submodule add URL PATH'.`
})

const told = ({ before, now, path, url }: MovedSubmodule) =>
  `${quoted(path)} ${before === undefined ? "is new at" : `was ${short(before)} and is`} ${short(now)}, ${url === undefined ? "without a url" : `of ${quoted(withoutLogin(url))}`}`

/** For a person and the reviewer; undefined: there is nothing. Pure. */
export const noteOnSubmodules = (moved: ReadonlyArray<MovedSubmodule>): string | undefined =>
  moved.length === 0
    ? undefined
    : `Submodules that this work adds or moves, whose changes its diff does not show: ${listSome(moved.map(told))}. 'git -C PATH log -p BEFORE..NOW' shows them. Whether their servers have these commits is not known.`

const differing = ({ commit, paths }: Merges["changed"][number]) =>
  `${short(commit)} in ${listSome(paths.map(quoted), 10)}`

/** For a person and the reviewer; undefined: each merge is what git makes of its parents. Pure. */
export const noteOnMerges = ({ changed, more, unknown }: Merges): string | undefined => {
  const parts = [
    changed.length === 0
      ? []
      : `Merges that came with this work have files that differ from how git merges them, since a conflict was resolved, or changes of one side were left out: ${listSome(changed.map(differing))}. The diff of the work may not show that; 'git show --remerge-diff COMMIT' does.`,
    unknown.length === 0
      ? []
      : `Merges that came with this work, and that this git cannot make again to compare them: ${listSome(unknown.map(short))}. Compare each with its parents: 'git diff PARENT COMMIT'.`,
    more === 0
      ? []
      : `${more} more merges came with this work, and were not compared with what git makes of their parents.`
  ].flat()
  return parts.length === 0 ? undefined : parts.join(" ")
}

/** Between two commits (full hashes): why the work is not complete, or notes about it. */
export const hiddenInDiff = Effect.fn("hiddenInDiff")(function* (directory: string, base: string, commit: string) {
  const git = yield* Git
  const moved = yield* git.movedSubmodules(directory, base, commit)
  const missing = yield* unshared(directory, moved)
  if (missing !== undefined) return missing
  const merges = noteOnMerges(yield* git.changedMerges(directory, base, commit))
  return [noteOnSubmodules(moved), merges].filter((note) => note !== undefined)
})
