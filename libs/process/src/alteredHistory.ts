/**
 * What has git show another history than the one that the objects hold: refs that put an object in the place of another, and the
 * commits at which a shallow clone ends. Reprise's own git obeys no replacements; that of the user, who merges the work, does
 * (docs/design/workspace.md#what-gates-run-on).
 */
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { readForeignText } from "./foreignFile.ts"
import { insist, onDisk } from "./ownIndex.ts"
import type { GitOptions } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"

/** Believed where it was there before anybody worked in the tree. */
export interface Alteration {
  readonly path: string
  /** The predicate of a sentence about the path. It tells one from a later one of the same path. */
  readonly why: string
  readonly mayStay: true
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
  const args = [...more, "for-each-ref", "--format=%(objectname) %(refname)", ...replacementFolders(environment)]
  return Effect.map(insist(directory, args, options), readReplacements)
}

const replaced = ({ hash, ref }: Replacement): Alteration => ({
  path: `git's ${ref}`,
  why: `has git show ${hash} in the place of what it is named for: remove it with 'git update-ref --no-deref -d ${ref}'`,
  mayStay: true
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

/** The directory that all working trees of a repository share. `directory`: absolute, of one of them. */
const sharedBy = async (directory: string): Promise<string> => {
  const named = await readForeignText(join(directory, "commondir"), { largestBytes, follow: false })
  return named === undefined ? directory : resolve(directory, named.trimEnd())
}

/** `gitDirectory`: absolute, that of the working tree. */
export const alteredHistory = Effect.fn("alteredHistory")(function* (
  directory: string,
  gitDirectory: string,
  options: GitOptions
) {
  const [replacements, shallow = ""] = yield* Effect.all(
    [
      replacementsIn(directory, process.env, options),
      onDisk(async () =>
        // git follows a link, which only the user can have made.
        readForeignText(join(await sharedBy(gitDirectory), "shallow"), { largestBytes, follow: true })
      )
    ],
    { concurrency: 2 }
  )
  return [...replacements.map(replaced), ...asEnds(shallow)]
})
