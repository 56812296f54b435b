/**
 * What a submodule's repository shows of the commits between which a commit moves it: its diff is in no other repository, and a
 * command can write its store as well.
 */
import { join } from "node:path"
import { Effect } from "effect"
import { type Falsehood, falsehoodsBetween } from "./falseObjects.ts"
import type { GitOptions } from "./runGit.ts"
import { runGit } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { placeOfSubmodule } from "./submodules.ts"

/** Full hashes. */
export interface Moved {
  readonly path: string
  readonly before: string
  readonly now: string
}

export interface OfSubmodules {
  /** The path names the submodule, too. */
  readonly found: ReadonlyArray<Falsehood>
  /** Paths of those that are checked out and have not both commits, so that nobody can see what changed. */
  readonly unseen: ReadonlyArray<string>
}

const atOnce = { concurrency: 4 }

/** Of submodules that are checked out; nobody sees anything of the rest. `gitDirectory`: absolute, of the repository around them. */
export const falseSubmodules = Effect.fn("falseSubmodules")(function* (
  directory: string,
  gitDirectory: string,
  moved: ReadonlyArray<Moved>,
  options: GitOptions = {}
): Effect.fn.Return<OfSubmodules, ProgramFailed> {
  const looked = yield* Effect.forEach(
    moved,
    Effect.fnUntraced(function* ({ before, now, path }): Effect.fn.Return<OfSubmodules, ProgramFailed> {
      // One that cannot be read is told by the comparison of the tree.
      const place = yield* Effect.promise(() =>
        placeOfSubmodule(join(directory, path), gitDirectory).catch(() => undefined)
      )
      if (place === undefined) return { found: [], unseen: [] }
      const inside = { ...options, place }
      const args = ["cat-file", "--batch-check=%(objecttype)"]
      const kinds = yield* runGit(place.workTree, args, { ...inside, input: `${before}\n${now}\n` })
      if (kinds.stdout !== "commit\ncommit\n") return { found: [], unseen: [path] }
      const found = yield* falsehoodsBetween(place.workTree, before, now, inside)
      return { found: found.map((one) => ({ ...one, path: `${path}: ${one.path}` })), unseen: [] }
    }),
    atOnce
  )
  return { found: looked.flatMap((one) => one.found), unseen: looked.flatMap((one) => one.unseen) }
})
