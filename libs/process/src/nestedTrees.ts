/**
 * A working tree and those of its submodules, each compared with its commit. A command can make submodules in submodules without
 * end, and many that share one git directory, so all of them together have limits.
 */
import { createHash } from "node:crypto"
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { Clock, Effect } from "effect"
import { type Comparison, compareTree, type Difference } from "./committedTree.ts"
import { readForeignFolder } from "./foreignFile.ts"
import { isGits } from "./ownIndex.ts"
import { faultOf } from "./programEnd.ts"
import type { GitOptions, GitPlace } from "./runGit.ts"
import { ProgramFailed } from "./runProgram.ts"
import { placeOfSubmodule } from "./submodules.ts"

export interface ComparisonLimits {
  /** That are checked out, however deep. */
  readonly mostSubmodules: number
  /** Of the whole comparison. */
  readonly longestMs: number
}

/** Some repositories have hundreds; four gits at a time get through a thousand in a few minutes. */
const usualLimits: ComparisonLimits = { mostSubmodules: 1_000, longestMs: 20 * 60_000 }

/** No repository has submodules as deep as this; a chain that has is somebody's trick. */
const deepest = 8

/** A submodule that is to be compared. */
interface Submodule {
  /** Relative to the working tree as a whole. */
  readonly path: string
  /** That of the submodule of the working tree itself in which it lies, or its own: as `git status` tells of it. */
  readonly top: string
  readonly commit: string
}

interface CheckedOut extends Submodule {
  readonly place: GitPlace
}

const hasOther = "holds files that are not a checkout of its submodule: remove them"
const again = "remove its folder, and check it out again with 'git submodule update --init --recursive'"

/** Where the submodule's own files are; undefined: nothing is there, as before it is checked out. */
const lookAt = async (
  root: string,
  { path }: Submodule,
  gitDirectory: string
): Promise<GitPlace | string | undefined> => {
  const folder = join(root, path)
  const found = await lstat(folder).catch(() => undefined)
  // Where it leads, something else may lie when a gate looks there.
  if (found?.isSymbolicLink() === true) return "is a link, and a folder in the commit: remove it"
  const place = await placeOfSubmodule(folder, gitDirectory).catch(() => "unreadable" as const)
  if (place === "unreadable") return `has a .git that cannot be read: ${again}`
  if (place !== undefined) return place
  const entries = await readForeignFolder(folder, { mostEntries: 1 }).catch(() => [path])
  return entries === undefined || entries.length === 0 ? undefined : hasOther
}

const mostNamed = 3

/** What is not as in a submodule's commit, as the predicate of a sentence. Pure. */
export const whyOfSubmodule = (inside: string, differences: ReadonlyArray<Difference>): string => {
  const named = differences
    .slice(0, mostNamed)
    .map(({ path, why }) => (why === undefined ? path : `${path}, which ${why}`))
  const more = differences.length > mostNamed ? `; and ${differences.length - mostNamed} more` : ""
  const where = inside === "" ? "" : ` in its submodule ${inside}`
  return `differs from its commit${where}: ${named.join("; ")}${more}. Commit or restore that inside, then commit the submodule`
}

const isTrees = (failure: ProgramFailed) => isGits(failure) || faultOf(failure.reason) === "tree"

/** The same path may be told of twice: what is told first says more. */
const eachOnce = (differences: ReadonlyArray<Difference>) =>
  [...new Map(differences.toReversed().map((one) => [one.path, one])).values()].toReversed()

/**
 * What in a working tree is not as in a commit (a whole hash), besides what the rules of the commit, of the repository and of the
 * user say to ignore. Of a submodule one difference is told. Fails when git does, such as for a commit that is missing, and with
 * `busy` when the comparison takes too long.
 */
export const differencesFromCommit = Effect.fn("differencesFromCommit")(function* (
  directory: string,
  hash: string,
  request: Comparison,
  options: GitOptions = {},
  { longestMs, mostSubmodules }: ComparisonLimits = usualLimits
): Effect.fn.Return<ReadonlyArray<Difference>, ProgramFailed> {
  const { gitDirectory, removeEmpty, when } = request
  const endsAt = (yield* Clock.currentTimeMillis) + longestMs
  const tooLong = `took more than ${longestMs / 1000} s to compare with the commit`

  const compare = Effect.fnUntraced(function* (root: string, commit: string, folder: string, how: GitOptions) {
    const one = { folder, when, removeEmpty, isSubmodule: root !== directory }
    return yield* Effect.scoped(compareTree(root, commit, one, how)).pipe(
      Effect.timeoutOrElse({
        duration: Math.max(0, endsAt - (yield* Clock.currentTimeMillis)),
        orElse: () => new ProgramFailed({ program: "git", reason: "busy", cause: `it ${tooLong}` })
      })
    )
  })

  const compareSubmodule = Effect.fnUntraced(function* ({ commit, path, place, top }: CheckedOut) {
    const folder = `${request.folder}-${createHash("sha256").update(path).digest("hex").slice(0, 16)}`
    const compared = yield* compare(join(directory, path), commit, folder, { ...options, place }).pipe(
      Effect.catchIf(isTrees, ({ details }) =>
        Effect.succeed({ unreadable: `cannot be compared (${details}): ${again}` })
      )
    )
    if ("unreadable" in compared) return { differences: [{ path: top, why: compared.unreadable }], below: [] }
    const inside = path === top ? "" : path.slice(top.length + 1)
    const found = eachOnce(compared.differences)
    return {
      differences: found.length === 0 ? [] : [{ path: top, why: whyOfSubmodule(inside, found) }],
      below: compared.submodules.map((one): Submodule => ({ path: join(path, one.path), top, commit: one.hash }))
    }
  })

  const whole = yield* compare(directory, hash, request.folder, options)
  const found: Array<Difference> = []
  let level = whole.submodules.map((one): Submodule => ({ path: one.path, top: one.path, commit: one.hash }))
  let count = 0
  for (let depth = 1; level.length > 0; depth++) {
    const looked = yield* Effect.forEach(
      level,
      (one) =>
        Effect.map(
          Effect.promise(() => lookAt(directory, one, gitDirectory)),
          (place) => ({ ...one, place })
        ),
      { concurrency: 16 }
    )
    const checkedOut: Array<CheckedOut> = []
    for (const { place, ...one } of looked) {
      if (typeof place === "string") found.push({ path: one.top, why: place })
      else if (place !== undefined) checkedOut.push({ ...one, place })
    }
    const [first] = checkedOut
    if (first === undefined) break
    count += checkedOut.length
    if (depth > deepest || count > mostSubmodules) {
      const why =
        depth > deepest
          ? `has submodules in submodules ${depth} deep, and Reprise compares ${deepest}: remove the deepest`
          : `is not compared: there are more submodules with files than the ${mostSubmodules} that Reprise compares. Remove some`
      found.unshift({ path: first.top, why })
      break
    }
    const compared = yield* Effect.forEach(checkedOut, compareSubmodule, { concurrency: 4 })
    found.push(...compared.flatMap(({ differences }) => differences))
    level = compared.flatMap(({ below }) => below)
  }
  return eachOnce([...found, ...whole.differences])
})
