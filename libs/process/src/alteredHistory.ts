/**
 * What has git show another history than the one that the objects hold: refs that put an object in the place of another, and the
 * commits at which a shallow clone ends. Reprise's own git obeys no replacements; that of the user, who merges the work, does
 * (docs/design/workspace.md#what-gates-run-on).
 */
import { join } from "node:path"
import { Effect } from "effect"
import { sharedBy } from "./commonDirectory.ts"
import { readForeignFile, readForeignText } from "./foreignFile.ts"
import { insist, onDisk } from "./ownIndex.ts"
import { readPackedRefs } from "./packedRefs.ts"
import { asClearText } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"

export interface Alteration {
  readonly path: string
  /** The predicate of a sentence about the path. It tells one from a later one of the same path. */
  readonly why: string
  /** Believed where it was there before anybody worked in the tree. */
  readonly mayStay?: true
}

/** Where the user's git looks for replacements, as prefixes of refs. Pure. */
export const replacementFolders = (
  environment: Readonly<Record<string, string | undefined>>
): ReadonlyArray<string> => {
  const { GIT_REPLACE_REF_BASE: base = "" } = environment
  const named = base.endsWith("/") ? base.slice(0, -1) : base
  return [...new Set(["refs/replace", ...(named.startsWith("refs/") ? [named] : [])])]
}

/** An object that git shows in the place of the one that the ref is named for. */
export interface Replacement {
  readonly ref: string
  readonly hash: string
}

/** The lines of `git for-each-ref --format='%(objectname) %(refname)'`. Pure. */
export const readReplacements = (listed: string): ReadonlyArray<Replacement> =>
  listed.split("\n").flatMap((line) => {
    const [, hash, ref] = /^([0-9a-f]+) (.+)$/.exec(line) ?? []
    return hash === undefined || ref === undefined ? [] : [{ hash, ref }]
  })

/**
 * The replacements of a repository. `environment`: of the user, which may name the folder of their refs. `more`: options of git
 * itself.
 */
export const replacementsIn = (
  directory: string,
  environment: Readonly<Record<string, string | undefined>>,
  options: GitOptions,
  more: ReadonlyArray<string> = []
): Effect.Effect<ReadonlyArray<Replacement>, ProgramFailed> => {
  // With the slash, as git itself looks for them: in packed refs that are not in order it finds others without.
  const folders = replacementFolders(environment).map((folder) => `${folder}/`)
  const args = [...more, "for-each-ref", "--format=%(objectname) %(refname)", ...folders]
  return Effect.map(insist(directory, args, options), readReplacements)
}

const replaced = ({ hash, ref }: Replacement): Alteration => ({
  path: `git's ${ref}`,
  why: `has git show ${hash} in the place of what it is named for: remove it with 'git update-ref --no-deref -d ${ref}'`,
  mayStay: true
})

/** Takes out what git would believe, and has git write it again. */
const mend = (common: string) =>
  `'sed -i.old "/^[#^]/d" ${join(common, "packed-refs")} && git --git-dir=${common} pack-refs --all'`

/** Of a repository with a million refs. */
const largestPackedRefs = 256 * 1024 * 1024

/** Of a line that somebody wrote, the beginning tells where it is. */
const longestTold = 200

/** What git's packed refs say of themselves and is not so. `common`: the directory that all working trees of a repository share. */
const falsePackedRefs = Effect.fnUntraced(function* (
  directory: string,
  common: string,
  options: GitOptions,
  more: ReadonlyArray<string>
) {
  const file = join(common, "packed-refs")
  const bytes = yield* onDisk(() => readForeignFile(file, { largestBytes: largestPackedRefs, follow: true }))
  if (bytes === undefined) return []
  const { odd, refs } = readPackedRefs(bytes.toString("latin1"))
  if (odd !== undefined) {
    const line = JSON.stringify(asClearText(odd.slice(0, longestTold)))
    const why = `has a line that git would not write there, ${line}, so git finds other refs than it lists: remove the line if its ref is there twice or is not a ref, and then ${mend(common)}`
    return [{ path: "git's packed-refs", why }]
  }
  const args = [...more, "cat-file", "--batch-check=%(objectname)"]
  const telling = refs.flatMap(({ peeled, ...one }) => (peeled === undefined ? [] : [{ ...one, peeled }]))
  const input = telling.map(({ hash }) => `${hash}^{}\n`).join("")
  const stands = telling.length === 0 ? [] : (yield* insist(directory, args, { ...options, input })).split("\n")
  return telling.flatMap(({ peeled, ref }, at): ReadonlyArray<Alteration> => {
    const found = stands[at] ?? ""
    // What is missing answers with more than a name.
    if (found === peeled || !/^[0-9a-f]+$/.test(found)) return []
    const why = `says that it stands for ${peeled}, and it stands for ${found}, so git describes another commit by it: ${mend(common)}`
    return [{ path: `git's packed ${asClearText(ref)}`, why, mayStay: true }]
  })
})

/** Replacements, and false packed refs. `common`: as above. `more`: options of git itself. */
export const alteredRefs = Effect.fn("alteredRefs")(function* (
  directory: string,
  common: string,
  options: GitOptions,
  more: ReadonlyArray<string> = []
) {
  const replacements = yield* replacementsIn(directory, process.env, options, more)
  return [...replacements.map(replaced), ...(yield* falsePackedRefs(directory, common, options, more))]
})

/** The lines of git's file `shallow`. Pure. */
export const asEnds = (text: string): ReadonlyArray<Alteration> =>
  [...new Set(text.split("\n").map((line) => line.trim()))].flatMap((hash) =>
    hash === ""
      ? []
      : [
          {
            path: `git's shallow at ${hash}`,
            why: "ends the history there: take the line out of the file, or get the rest with 'git fetch --unshallow'",
            mayStay: true as const
          }
        ]
  )

/** Nobody's history ends in so many places; more cannot be read, and fails. */
const largestBytes = 16 * 1024 * 1024

/** `gitDirectory`: absolute, that of the working tree. */
export const alteredHistory = Effect.fn("alteredHistory")(function* (
  directory: string,
  gitDirectory: string,
  options: GitOptions
) {
  const common = sharedBy(gitDirectory)
  const [refs, shallow = ""] = yield* Effect.all(
    [
      alteredRefs(directory, common, options),
      // git follows a link, which only the user can have made.
      onDisk(() => readForeignText(join(common, "shallow"), { largestBytes, follow: true }))
    ],
    { concurrency: 2 }
  )
  return [...refs, ...asEnds(shallow)]
})
