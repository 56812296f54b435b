/**
 * Repositories inside of a working tree that bring a configuration of their own: every git that looks at the tree outside of
 * the sandbox, the user's prompt and editor among them, would obey it (docs/design/workspace.md#sandbox). Likewise skills of
 * Claude and files of version managers. Reads only.
 */
import { createHash } from "node:crypto"
import { lstat } from "node:fs/promises"
import { basename, dirname, join, sep } from "node:path"
import { forgedIndexIn } from "@reprise/process"
import { Effect } from "effect"
import { contentsBelow } from "../disk/contentOf.ts"
import { textOfPath } from "../disk/findPaths.ts"
import { exists, leadsElsewhere, makeLeadsTo, steadyOf, targetOf } from "../disk/pathsOnDisk.ts"
import { isWithin } from "../policy/mounts.ts"
import type { ConfigurationReader } from "./configurationReader.ts"
import { directoryOf, isBare, isOfWorktree, leadsToNothingIn, obeyedByCommits, pointed } from "./gitPointers.ts"
import { configurationAt, dependOn, hooksAt, onDisk, type Said, type Search } from "./gitSays.ts"
import { instructionsAt, isInstructionName } from "./instructionFiles.ts"
import { makeSpending, placeIn, type Spend, TooMuchToLookAt } from "./lookLimits.ts"
import { skillsAt, skillsHome } from "./nestedSkills.ts"
import { candidatesIn, isSearched, type Place, type TooManyRepositories } from "./treeSearch.ts"
import { isVersionName, versionsAt } from "./versionFiles.ts"

/** A repository that says more than git writes itself, or skills. */
export interface NestedRepository {
  /** Without these, no git obeys it. Bytes, where a path is no text. */
  readonly paths: ReadonlyArray<string | Buffer>
  /** They are folders above it, whose path is too long to be named. */
  readonly isAbove?: true
  /** Nobody sees when a command changes what it says, so it is moved even where the user made it. */
  readonly isUnseen?: true
  /** What it says, for people: keys of its configuration and names of its hooks. */
  readonly says: ReadonlyArray<string>
  /** Changes with what it says. */
  readonly digest: string
  /** What the digest is of. */
  readonly content: string
}

/** It has no working tree of its own: only such a one can be part of a commit. */
export const isBareRepository = ({ paths: [path] }: NestedRepository): boolean => basename(String(path)) === "HEAD"

/** The same for what says the same at the same place of two trees. `workspace`: the tree in which it was found. */
export const digestAnywhere = ({ content }: NestedRepository, workspace: string): string =>
  createHash("sha256")
    .update(content.replaceAll(JSON.stringify(workspace).slice(1, -1), "<workspace>"))
    .digest("hex")

const unclearPointer = (path: string, spend: Spend): Effect.Effect<Said, Error> =>
  Effect.map(
    onDisk(() => contentsBelow(path, spend)),
    (content) => ({ path, says: ["a pointer that leads nobody knows where"], content: content.join("\0") })
  )

/** A pointer to where nothing is read. No look finds what commands write in the folders of git and of Reprise. */
const hiddenPointer = (path: string, leads: string, { git, spend, stateDirectory }: Search) => {
  const folders = [stateDirectory, ...(git === undefined ? [] : [git.common, git.directory])]
  const says = ["a pointer into a folder of git or of Reprise"]
  return Effect.map(
    unclearPointer(path, spend),
    (said): Said => (folders.some((folder) => isWithin(leads, folder)) ? { ...said, says, isUnseen: true } : said)
  )
}

/** Everything that a git directory says more than git writes itself; `folder`: in which git looks at it. */
const saidBy = Effect.fnUntraced(function* (directory: string, folder: string, place: Search) {
  const pointer = join(directory, "commondir")
  const leads = yield* onDisk(() => pointed(pointer))
  const isClear = leads === undefined || (yield* onDisk(() => isOfWorktree(directory)))
  const common = leads ?? directory
  const isRead = common === directory || (common !== "unclear" && isSearched(common, place))
  if (!isRead) return [yield* hiddenPointer(pointer, common, place)]
  const unclear = isClear ? [] : [yield* unclearPointer(pointer, place.spend)]
  if (!isClear) yield* onDisk(() => dependOn(common, place))
  const files = new Set([join(common, "config"), join(common, "config.worktree"), join(directory, "config.worktree")])
  const read = yield* Effect.forEach([...files], (path) => configurationAt(path, { directory, folder }, place))
  const trees = new Set([folder, ...read.flatMap((one) => one.trees)].filter((tree) => tree !== place.workspace))
  const inTrees = [...trees].flatMap((tree) => place.hooks.map((name) => join(tree, name)))
  const hooks = yield* Effect.forEach([join(common, "hooks"), ...inTrees], (path) => hooksAt(path, place))
  return [...unclear, ...read.flatMap(({ said }) => said), ...hooks.flat()] satisfies ReadonlyArray<Said>
})

/** `paths`: what makes git take the folder for a repository; absent: the files that say more. */
const asRepository = (
  said: ReadonlyArray<Said>,
  paths?: NestedRepository["paths"]
): ReadonlyArray<NestedRepository> => {
  if (said.length === 0) return []
  const content = JSON.stringify(said)
  const digest = createHash("sha256").update(content).digest("hex")
  const says = [...new Set(said.flatMap((one) => one.says))]
  const unseen = said.some(({ isUnseen }) => isUnseen === true) ? { isUnseen: true as const } : {}
  return [{ paths: paths ?? said.map(({ path }) => path), says, digest, content, ...unseen }]
}

/** What the user's next git obeys in the directory of a repository inside, besides its configuration and hooks. */
const waitingAt = (directory: string, { spend }: Search) =>
  onDisk(async (): Promise<ReadonlyArray<Said>> => {
    const paths = obeyedByCommits.map((name) => join(directory, name)).filter(exists)
    const waiting = paths.map(async (path) => ({
      path,
      says: [basename(path)],
      content: (await contentsBelow(path, spend)).join("\0")
    }))
    // Entries that git never makes, but obeys.
    const forged = await forgedIndexIn(directory)
    return [
      ...(await Promise.all(waiting)),
      ...(forged === undefined ? [] : [{ path: join(directory, "index"), ...forged }])
    ]
  })

/** What lies there nothing of Reprise's can ask git about; a command alone makes such a folder. */
const atUnnamed = Effect.fnUntraced(function* (path: Buffer) {
  const folder = path.subarray(0, path.lastIndexOf(sep))
  const name = String(path.subarray(folder.length + 1))
  const skills = Buffer.concat([path, Buffer.from(`${sep}skills`)])
  const isObeyed =
    name === ".git" || name === "HEAD" || (yield* onDisk(() => lstat(skills).catch(() => undefined))) !== undefined
  const said = { path: String(path), says: ["a path that is no text"], content: path.toString("latin1") }
  return isObeyed ? asRepository([said], [path]) : []
})

/** With room for names in a git directory: the kernel takes 4 096 bytes. */
const longestPath = 3000

/**
 * By names that no program can say a command, which goes down step by step, could keep a repository, and move it up later. Nobody
 * works at such a path: the folder that can still be named is moved as a whole.
 */
const atUnnameable = (path: Buffer): ReadonlyArray<NestedRepository> => {
  const bytes = path.subarray(0, path.lastIndexOf(sep, longestPath))
  const above = textOfPath(bytes)
  const said = { path: String(bytes), says: ["a path too long to be looked at"], content: "" }
  return asRepository([said], [above ?? bytes]).map((one) => ({ ...one, isAbove: true }))
}

/** Whether the repository's own git directory names the tree that points to it: a worktree by its pointer, a submodule's by its key. */
const isTreeOf = Effect.fnUntraced(function* (directory: string, folder: string, place: Search) {
  const pointer = yield* onDisk(() => pointed(join(directory, "gitdir")))
  if (pointer !== undefined) return pointer === join(folder, ".git")
  const files = ["config", "config.worktree"].map((name) => join(directory, name))
  const read = yield* Effect.forEach(files, (path) => configurationAt(path, { directory, folder }, place))
  return read.some(({ trees }) => trees.includes(folder))
})

/** What git would obey in another tree of the repository, unless the workspace has the same, which no command can change. */
const otherThanInWorkspace = async (tree: string, { dependsOn, hooks, namedIn, spend, workspace }: Search) => {
  const paths = new Set([...(await namedIn(tree)), ...hooks.map((name) => join(tree, name))])
  const contentAt = async (top: string, path: string) =>
    (await contentsBelow(join(top, path), spend)).map((text) => (text.startsWith(top) ? text.slice(top.length) : text))
  const said: Array<Said> = []
  for (const path of paths) {
    dependsOn(path)
    const at = path.slice(tree.length + 1)
    const content = (await contentAt(tree, at)).join("\0")
    const isSame = content === "" || content === (await contentAt(workspace, at)).join("\0")
    if (!isSame) said.push({ path, says: [`${at}, as the workspace's configuration names it`], content })
  }
  return said
}

/**
 * A link to where no repository is looked for. What Reprise has is of no use outside; caches are found by another path inside,
 * where nothing is outside.
 */
const linkInto = (path: string, { git, stateDirectory, workspace }: Search): ReadonlyArray<Said> => {
  const target = targetOf(path)
  if (target === undefined) return []
  if (leadsElsewhere(path)) return [{ path, says: ["a link that leads each program elsewhere"], content: target }]
  const real = steadyOf(path)
  const leads = real ?? makeLeadsTo()(path)
  const isOfGit = git !== undefined && [git.common, git.directory].some((folder) => isWithin(leads, folder))
  // That of a run is a worktree in the folder of the state.
  const isOwn = real !== undefined && isWithin(workspace, stateDirectory) && isWithin(real, workspace)
  const isOfState = real !== undefined && isWithin(real, stateDirectory) && !isOwn
  return isOfGit || isOfState ? [{ path, says: ["a link into a folder of git or of Reprise"], content: target }] : []
}

/** Where a folder takes any case of letters, git finds `.GIT` by its own name. */
const asGitNamesIt = (path: string): string => {
  const name = [".git", "HEAD"].find(
    (one) => one !== basename(path) && one.toLowerCase() === basename(path).toLowerCase()
  )
  const named = name === undefined ? path : join(dirname(path), name)
  return exists(named) ? named : path
}

const atCandidate = Effect.fnUntraced(function* (bytes: Buffer, place: Search) {
  const { git, workspace } = place
  if (bytes.length > longestPath) return atUnnameable(bytes)
  const found = textOfPath(bytes)
  if (found === undefined) return yield* atUnnamed(bytes)
  const path = asGitNamesIt(found)
  const folder = dirname(path)
  if (basename(path).toLowerCase() === skillsHome) {
    const found = yield* onDisk(() => skillsAt(path, place))
    return asRepository(found === undefined ? [] : [found])
  }
  if (isInstructionName(path)) {
    const found = yield* onDisk(() => instructionsAt(path))
    return asRepository(found === undefined ? [] : [found])
  }
  if (isVersionName(path)) {
    const found = yield* onDisk(() => versionsAt(path))
    return asRepository(found === undefined ? [] : [found])
  }
  const intoHidden = basename(path) === ".git" ? [] : linkInto(path, place)
  if (intoHidden.length > 0) return asRepository(intoHidden)
  if (basename(path) === "HEAD") {
    // That of the workspace itself may not be made anyway, and one of `.git` is found with it.
    if (folder === workspace || basename(folder) === ".git") return []
    return (yield* onDisk(() => isBare(folder)))
      ? asRepository([...(yield* saidBy(folder, folder, place)), ...(yield* waitingAt(folder, place))], [path])
      : []
  }
  if (basename(path) !== ".git" || folder === workspace) return []
  // Where hooks are looked for in every tree, what they are called is the user's to say.
  if (place.hooks.length > 0) place.dependsOn(folder)
  const directory = yield* onDisk(() => directoryOf(path))
  if (directory === undefined) return []
  if (directory === "unclear") {
    // A worktree or submodule that commands made is in their clone, and outside its pointer leads to nothing, where only git writes.
    const isInClone = git !== undefined && (yield* onDisk(() => leadsToNothingIn(path, git)))
    return isInClone
      ? asRepository(yield* onDisk(() => otherThanInWorkspace(folder, place)))
      : asRepository([yield* unclearPointer(path, place.spend)], [path])
  }
  // What a submodule or a worktree of the workspace says is in the repository's own git directory.
  const own = git === undefined ? [] : [git.common, git.directory, ...git.repositories, ...git.worktrees]
  if (own.includes(directory)) {
    if (!(yield* isTreeOf(directory, folder, place)))
      return asRepository([yield* unclearPointer(path, place.spend)], [path])
    return asRepository(yield* onDisk(() => otherThanInWorkspace(folder, place)))
  }
  if (isSearched(directory, place)) {
    return asRepository([...(yield* saidBy(directory, folder, place)), ...(yield* waitingAt(directory, place))], [path])
  }
  return asRepository([yield* hiddenPointer(path, directory, place)], [path])
})

/** So many places are looked at at the same time: for some, git is started. */
const atOnce = { concurrency: 4 }

export interface NestedRepositories {
  readonly found: ReadonlyArray<NestedRepository>
  /** Folders and files directly below the workspace: when something in them changes, somebody has to look again. */
  readonly dependencies: ReadonlySet<string>
  /** Why there may be more. */
  readonly fault: TooManyRepositories | TooMuchToLookAt | undefined
}

export interface LookLimits {
  /** Of more that may be a repository not all are looked at. */
  readonly mostPlaces?: number
  /** Nor of a tree with more to compare. */
  readonly mostLooks?: number
}

/** Every repository in the tree that says more than git writes itself. */
export const nestedRepositories = Effect.fn("nestedRepositories")(function* (
  place: Place,
  settingsIn: ConfigurationReader,
  { mostLooks, mostPlaces }: LookLimits = {}
) {
  const { workspace } = place
  const spending = makeSpending(workspace, mostLooks)
  const dependencies = new Set<string>()
  const dependsOn = (path: string) => {
    if (isWithin(path, workspace)) dependencies.add(placeIn(workspace, path))
  }
  const searchAt = (path: string): Search => ({ ...place, settingsIn, spend: spending(path), dependsOn })
  const { paths, tooMany } = yield* candidatesIn(place, mostPlaces)
  let tooMuch: TooMuchToLookAt | undefined
  const asFarAsLooksGo = (look: Effect.Effect<ReadonlyArray<NestedRepository>, Error>) =>
    Effect.catchIf(
      look,
      (error) => error instanceof TooMuchToLookAt,
      (error) => {
        tooMuch ??= error
        return Effect.succeed<ReadonlyArray<NestedRepository>>([])
      }
    )
  const inTree = yield* Effect.forEach(
    paths,
    (path) => asFarAsLooksGo(atCandidate(path, searchAt(String(path)))),
    atOnce
  )
  return {
    found: inTree.flat(),
    dependencies,
    fault: tooMany ?? tooMuch
  } satisfies NestedRepositories
})
