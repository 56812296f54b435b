/**
 * Whether the files of a working tree are those of a commit, whatever the attributes and ignored files say that a command can write
 * (docs/design/workspace.md#what-gates-run-on).
 */
import { lstat } from "node:fs/promises"
import { dirname, join, posix } from "node:path"
import { Effect, type Scope } from "effect"
import { changedAttributes, isAttributes } from "./committedAttributes.ts"
import { type Commit, type CommittedEntry, readCommit } from "./committedEntries.ts"
import { compareFiles, type ReadOtherwise } from "./compareFiles.ts"
import { convertedOtherwise } from "./conversions.ts"
import { hiddenByReprise } from "./hiddenByReprise.ts"
import { ignoredPaths } from "./ignoredPaths.ts"
import { bytesOf, filesAt, insistBytes, isGits, onDisk, ownFolder, refused } from "./ownIndex.ts"
import { asBuffer, asBytes, asClearText, asText, fieldsOf, isUnclear } from "./pathBytes.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { hidingFiles, readIgnored } from "./selfHiddenFolders.ts"
import { recordStanding, type Standing, withoutStanding } from "./standing.ts"
import { type Unlisted, unlistedEntries, unopenedFolders } from "./unlistedEntries.ts"
import { isOwnName, stateFolder } from "./workingTree.ts"

/** `why`: the predicate of a sentence about the path; absent: it is changed or untracked, as `git status` shows. */
export interface Difference {
  readonly path: string
  readonly why?: string
}

type Found = Difference & Pick<Unlisted, "isEmpty" | "mayStay">

/** What git lists of files that no commit has, and the folders that it could not open: it goes on without them. */
const listOthers = Effect.fnUntraced(function* (directory: string, more: ReadonlyArray<string>, options: GitOptions) {
  const args = ["ls-files", "--others", "-z", "--exclude-standard", ...more]
  const { bytes, stderr } = yield* insistBytes(directory, args, options)
  return { names: fieldsOf(bytes), unopened: unopenedFolders(stderr) }
})

/** What is ignored, and what in it says how git reads files, or hides files, though no commit does. */
const hidden = Effect.fnUntraced(function* (directory: string, commit: Commit, options: GitOptions) {
  const { names, unopened } = yield* listOthers(directory, ["--ignored", "--directory"], options)
  if (names.length === 0) return unopened
  const ignored = yield* ignoredPaths(directory, names, ["--verbose"], options)
  const attributes = names
    .map(asClearText)
    .filter((path) => isAttributes(path) && commit.folders.has(posix.dirname(path)))
  return [
    ...hidingFiles(readIgnored(ignored), commit).map(
      (path): Found =>
        commit.folders.has(posix.dirname(path))
          ? { path, why: "hides files and is in no commit: remove it, or commit it" }
          : { path: `${posix.dirname(path)}/`, why: hidesItself, mayStay: true }
    ),
    ...attributes.map((path) => ({ path, why: foreignAttributes })),
    ...unopened
  ] satisfies ReadonlyArray<Found>
})

const otherwise = "is not as git would check it out: remove it, and 'git checkout' it again"

const hidesItself = "hides itself, and no commit says so: remove it, or name it in a .gitignore that you commit"

const ofOtherKind =
  "is executable or a link and not so in the commit, or the other way round, which core.fileMode or core.symlinks has git not see: 'git checkout' it again, or commit it so with 'git update-index --chmod'"

const foreignAttributes = "says how git reads files and is in no commit"

/** gits that only look are asked at the same time, as far as there are processors. */
const together = { concurrency: 4 }

/** Paths that differ between the repository's index and the commit: what others read with git is that of the index. */
const differingIndex = Effect.fnUntraced(function* (directory: string, own: GitOptions, options: GitOptions) {
  const list = ["ls-files", "--stage", "-z"]
  const both = [insistBytes(directory, list, own), bytesOf(directory, list, options)] as const
  const [ours, theirs] = yield* Effect.all(both, together)
  if (theirs.exitCode !== 0) return yield* refused("ls-files", theirs)
  if (ours.bytes === theirs.bytes) return []
  const [one, other] = [new Set(fieldsOf(ours.bytes)), new Set(fieldsOf(theirs.bytes))]
  const differing = [...[...one].filter((entry) => !other.has(entry)), ...[...other].filter((entry) => !one.has(entry))]
  return [...new Set(differing.map((entry) => asText(entry.slice(entry.indexOf("\t") + 1))))].map((path) => ({ path }))
})

/** Those of some paths, which are not UTF-8, at which a file of the commit is. */
const unclearFiles = async (directory: string, { entries }: Commit, paths: ReadonlyArray<string>) => {
  const asked = new Set(paths.filter(isUnclear))
  const named = entries.flatMap(({ bytes, path }) => (bytes !== undefined && asked.has(path) ? [{ bytes, path }] : []))
  const files = await Promise.all(
    named.map(({ bytes }) => lstat(asBuffer(`${asBytes(directory)}/${bytes}`)).catch(() => undefined))
  )
  return new Set(named.flatMap(({ path }, at) => (files[at] === undefined ? [] : [path])))
}

/** Those of missing files that a sparse checkout left out: git itself names the others. */
const leftOut = Effect.fnUntraced(function* (
  directory: string,
  commit: Commit,
  paths: ReadonlyArray<string>,
  options: GitOptions
) {
  if (paths.length === 0) return new Set<string>()
  const wanted = yield* runGit(directory, ["config", "--type=bool", "core.sparseCheckout"], options)
  if (wanted.stdout.trim() !== "true") return new Set<string>()
  const files = yield* Effect.promise(() => filesAt(directory, paths))
  const unclear = yield* Effect.promise(() => unclearFiles(directory, commit, paths))
  const missing = paths.filter((path, at) => files[at] === undefined && !unclear.has(path))
  if (missing.length === 0) return new Set<string>()
  const args = ["rm", "--dry-run", "--cached", "--ignore-unmatch", "--pathspec-from-file=-", "--pathspec-file-nul"]
  const listed = yield* runGit(directory, args, { ...options, input: missing.map((path) => `${path}\0`).join("") })
  const inside = new Set(listed.stdout.split("\n").map((line) => /^rm '(.*)'$/.exec(line)?.[1]))
  return new Set(missing.filter((path) => !path.includes("\n") && !inside.has(path)))
})

export interface Comparison {
  /** Where Reprise keeps its own index of this working tree: a folder of a folder of `.reprise`, which no command can write. */
  readonly folder: string
  /** `before` anybody works in the tree, files may have any ends of lines that git takes for those of the commit. */
  readonly when: "before" | "after"
  /** Absolute: that of the repository whose configuration counts. */
  readonly gitDirectory: string
  /** Removes folders (absolute) that hold nothing but folders, and gives those that are gone. */
  readonly removeEmpty: (folders: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
}

type OfOneTree = Omit<Comparison, "gitDirectory"> & { readonly isSubmodule: boolean }

/** What such a file holds counts as what stood there, since git takes it for what the commit has. */
const withContent = (file: ReadOtherwise) => ({ ...file, why: file.content })

/** What stood there before is not a change; `before` anybody works in the tree, all of it does. Empty foreign folders are removed. */
const withoutStandingOnes = Effect.fnUntraced(function* (
  directory: string,
  { folder, removeEmpty, when }: OfOneTree,
  all: ReadonlyArray<Found>,
  read: ReadonlyArray<Standing>
) {
  const standing = all.filter(({ mayStay }) => mayStay)
  if (when === "before") yield* recordStanding(folder, [...standing, ...read])
  const added = new Set(when === "before" ? [] : yield* withoutStanding(folder, standing))
  const empty = [...added].flatMap(({ isEmpty, path }) => (isEmpty ? [join(directory, path)] : []))
  const removed = new Set(empty.length === 0 ? [] : yield* removeEmpty(empty))
  return all
    .filter((one) => one.mayStay !== true || (added.has(one) && !removed.has(join(directory, one.path))))
    .map(({ isEmpty: _, mayStay: __, ...one }): Difference => one)
})

/** What was found out about one working tree. */
export interface ComparedTree {
  readonly differences: ReadonlyArray<Difference>
  /** What the commit has submodules at, unless it cannot be believed. */
  readonly submodules: ReadonlyArray<CommittedEntry>
}

/** Compares a working tree with a commit, without what is in its submodules. */
export const compareTree = Effect.fn("compareTree")(function* (
  directory: string,
  hash: string,
  request: OfOneTree,
  options: GitOptions
): Effect.fn.Return<ComparedTree, ProgramFailed, Scope.Scope> {
  const commit = yield* readCommit(directory, hash, options).pipe(Effect.catchIf(isGits, () => Effect.undefined))
  if (commit === undefined)
    return { differences: [{ path: `commit ${hash}`, why: "cannot be read as a whole" }], submodules: [] }
  yield* ownFolder(request.folder)
  const said = yield* changedAttributes(directory, commit)
  const compared = yield* compareFiles(directory, commit, request.folder, options)
  const { changed, options: ours, otherKinds } = compared
  const read = compared.readOtherwise.filter(({ mode }) => mode.startsWith("100")).map(withContent)
  const { isSubmodule } = request
  const isReprises = dirname(dirname(request.folder)) === join(directory, stateFolder)
  const kind = isSubmodule ? "submodule" : isReprises ? "root" : "worktree"
  const written = request.when === "before" ? [] : yield* withoutStanding(request.folder, read)
  const others = Effect.flatMap(listOthers(directory, [], ours), (listed) =>
    Effect.map(unlistedEntries(directory, commit, listed.names.map(asClearText), ours), (unlisted) => ({
      ...listed,
      unlisted
    }))
  )
  const [listed, unseen, left, index, beside, converted, kinds] = yield* Effect.all(
    [
      others,
      hidden(directory, commit, ours),
      leftOut(directory, commit, changed, ours),
      differingIndex(directory, ours, options),
      onDisk(() => hiddenByReprise(directory, commit, kind)),
      convertedOtherwise(directory, written, request.folder, ours),
      otherKinds
    ],
    together
  )
  const { unlisted, unopened } = listed
  const untracked = listed.names.map(asText)
  const rules = untracked.filter(isAttributes)
  const isOwn = ({ path }: Difference) =>
    !isSubmodule &&
    isOwnName(path) &&
    !isUnclear(path) &&
    !commit.files.has(path) &&
    (kind === "root" || !path.startsWith(`${stateFolder}/`))
  const attributes = [...said, ...rules.map((path) => ({ path, why: foreignAttributes }))]
  // By other attributes than those of the commit, files are the same that are not.
  const misread = attributes.length > 0 || unseen.some(({ path }) => isAttributes(path))
  const seen: ReadonlyArray<Found> = [
    ...attributes,
    ...unseen,
    ...unlisted,
    ...unopened,
    ...converted.map((path) => ({ path, why: otherwise })),
    ...[...changed.filter((path) => !left.has(path)), ...untracked].map((path): Difference => ({ path })),
    ...kinds.map((path): Found => ({ path, why: ofOtherKind, mayStay: true }))
  ]
  const all = [...beside, ...seen.filter((one) => !isOwn(one)), ...index]
  const found = [...new Map(all.toReversed().map((one) => [one.path, one])).values()].toReversed()
  const differences = yield* withoutStandingOnes(directory, request, found, misread ? [] : read)
  return { differences, submodules: commit.entries.filter(({ type }) => type === "commit") }
})

/**
 * What lies unseen in the folders of a commit, such as a pipe or an empty folder, and did not stand there before anybody worked in
 * the tree. `folder`: as in `Comparison`.
 */
export const addedUnlisted = Effect.fn("addedUnlisted")(function* (
  directory: string,
  hash: string,
  folder: string,
  options: GitOptions = {}
) {
  const commit = yield* readCommit(directory, hash, options)
  const found = yield* unlistedEntries(directory, commit, [], options)
  return yield* withoutStanding(
    folder,
    found.filter(({ mayStay }) => mayStay)
  )
})
