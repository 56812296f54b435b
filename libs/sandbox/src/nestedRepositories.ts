/**
 * Repositories inside of a working tree that bring a configuration of their own: every git that looks at the tree outside of
 * the sandbox, the user's prompt and editor among them, would obey it (docs/design/workspace.md#sandbox). Likewise skills of
 * Claude. Changes nothing but folders that their owner could not list.
 */
import { createHash } from "node:crypto"
import { lstat, realpath, stat } from "node:fs/promises"
import { basename, dirname, join, resolve, sep } from "node:path"
import { hasCode, readForeignFile, readForeignFolder, splitPath } from "@reprise/process"
import { Effect, Schema } from "effect"
import type { GitRepository } from "./askGit.ts"
import type { ConfigurationReader } from "./configurationReader.ts"
import { contentOf } from "./contentOf.ts"
import { findPaths, textOfPath } from "./findPaths.ts"
import type { Directories } from "./gitPlaces.ts"
import { instructionSearch, instructionsAt, isInstructionName } from "./instructionFiles.ts"
import { skillsAt, skillsHome } from "./nestedSkills.ts"
import { isWithin } from "./policy.ts"
import { isHook, unusualKeys } from "./repositoryConfiguration.ts"

/** A repository that says more than git writes itself, or skills. */
export interface NestedRepository {
  /** Without these, no git obeys it. Bytes, where a path is no text. */
  readonly paths: ReadonlyArray<string | Buffer>
  /** What it says, for people: keys of its configuration and names of its hooks. */
  readonly says: ReadonlyArray<string>
  /** Changes with what it says. */
  readonly digest: string
}

export interface Place {
  /** Real. */
  readonly workspace: string
  /** Nobody but Reprise writes there. */
  readonly stateDirectory: string
  readonly git: (Pick<GitRepository, "common" | "directory"> & Directories) | undefined
  /** Where the user's configuration has every repository look for hooks, relative to its working tree. */
  readonly hooks: ReadonlyArray<string>
}

/** A place whose repositories are looked for. */
interface Search extends Place {
  readonly settingsIn: ConfigurationReader
}

/** So many places may be repositories that nobody can look at all of them. */
export class TooManyRepositories extends Schema.TaggedError<TooManyRepositories>()("TooManyRepositories", {
  workspace: Schema.String,
  most: Schema.Finite,
  /** The folder below the workspace that has most of them. */
  folder: Schema.String
}) {
  override get message() {
    return (
      `${this.workspace} has more than ${this.most} files or folders called .git or HEAD, most of them in ${this.folder}. ` +
      "Each may be a repository that git outside of the sandbox would obey, so nothing goes on here. Remove them."
    )
  }
}

const largestBytes = 1024 * 1024
const mostEntries = 1000
const unreadable = "a configuration that cannot be read"

/** Undefined: there is none. */
const textOf = (path: string): Promise<Buffer | typeof unreadable | undefined> =>
  readForeignFile(path, { largestBytes, follow: false }).catch(() => unreadable)

/** What one file, or the folder of hooks, says more than git writes itself. */
interface Said {
  readonly path: string
  readonly says: ReadonlyArray<string>
  readonly content: string
}

/** What stands where a value may lead, from the configuration's folder and from the tree around it: files, and files in folders. */
const namedBy = async (configuration: string, values: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const bases = [dirname(configuration), dirname(dirname(configuration))]
  const paths = values
    .filter((value) => value !== "" && !value.includes("\0"))
    .flatMap((value) => bases.map((base) => resolve(base, value)))
  const texts: Array<string> = []
  for (const path of paths) {
    const entries = await readForeignFolder(path, { mostEntries }).catch(() => undefined)
    const files = entries === undefined ? [path] : entries.map(({ name }) => join(path, name)).toSorted()
    for (const file of files) texts.push(`${file} ${await contentOf(file)}`)
  }
  return texts
}

/** As `git init` writes a configuration: most need no look by git. */
const asInitialised =
  /^\[core\]\n\trepositoryformatversion = 0\n\tfilemode = (true|false)\n\tbare = (true|false)\n(\tlogallrefupdates = true\n)?$/

/** git reads the text itself, without the files that it would include. */
const configurationAt = Effect.fnUntraced(function* (path: string, { settingsIn, stateDirectory, workspace }: Search) {
  const text = yield* Effect.promise(() => textOf(path))
  if (text === undefined || (text !== unreadable && asInitialised.test(text.toString("latin1")))) return []
  if (text === unreadable) return [{ path, says: [unreadable], content: text }]
  const isOwnTree = (tree: string) => isWithin(resolve(dirname(path), tree), workspace)
  const settings = yield* settingsIn(stateDirectory, text)
  if (settings === undefined) return [{ path, says: [unreadable], content: text.toString("latin1") }]
  const says = unusualKeys(settings, isOwnTree)
  if (says.length === 0) return []
  const values = settings.flatMap(([key, value]) => (says.includes(key) ? [value] : []))
  return [
    {
      path,
      says,
      content: [text.toString("latin1"), ...(yield* Effect.promise(() => namedBy(path, values)))].join("\0")
    }
  ]
})

/** The content counts: a hook that was there before may be another one now. */
const hooksAt = (path: string) =>
  Effect.promise(async (): Promise<ReadonlyArray<Said>> => {
    try {
      if ((await lstat(path)).isSymbolicLink()) return [{ path, says: ["hooks elsewhere"], content: "" }]
      const names = (await readForeignFolder(path, { mostEntries }))?.map(({ name }) => name).filter(isHook) ?? []
      if (names.length === 0) return []
      const texts = await Promise.all(names.toSorted().map((name) => contentOf(join(path, name))))
      return [{ path, says: names.map((name) => `hook ${name}`), content: texts.join("\0") }]
    } catch (error) {
      return hasCode(error, "ENOENT", "ENOTDIR") ? [] : [{ path, says: ["hooks that cannot be read"], content: "" }]
    }
  })

/** A pointer to a folder, in a file of git's, as git reads it: to its end, without line breaks there. */
const pointed = async (path: string, prefix = ""): Promise<string | "unclear" | undefined> => {
  const text = await textOf(path)
  if (text === undefined) return undefined
  if (text === unreadable) return "unclear"
  const line = text.toString("utf8").replace(/[\r\n]+$/, "")
  const target = line.slice(prefix.length)
  // What git may read in another way than this leads nobody knows where.
  const isPlain = line.startsWith(prefix) && Buffer.from(line).equals(text.subarray(0, Buffer.byteLength(line)))
  return isPlain && target !== "" && target === target.trim() && !/\p{Cc}/u.test(target)
    ? resolve(dirname(path), target)
    : "unclear"
}

const unclearPointer = (path: string): Said => ({
  path,
  says: ["a pointer that leads nobody knows where"],
  content: ""
})

/** What commands can write: nothing else is read, or moved. `path`: may be led elsewhere by links. */
const isOwnPlace = async (path: string, { git, stateDirectory, workspace }: Place): Promise<boolean> => {
  const real = await realpath(path).catch(() => undefined)
  const folders = [workspace, stateDirectory, ...(git === undefined ? [] : [git.common])]
  return real !== undefined && folders.some((folder) => isWithin(real, folder))
}

/** Everything that a git directory says more than git writes itself. */
const saidBy = Effect.fnUntraced(function* (directory: string, place: Search) {
  const pointer = join(directory, "commondir")
  const common = (yield* Effect.promise(() => pointed(pointer))) ?? directory
  const isRead = common !== "unclear" && (yield* Effect.promise(() => isOwnPlace(common, place)))
  if (!isRead) return [unclearPointer(pointer)]
  const files = new Set([join(common, "config"), join(common, "config.worktree"), join(directory, "config.worktree")])
  const said = yield* Effect.forEach([...files], (path) => configurationAt(path, place))
  return [...said.flat(), ...(yield* hooksAt(join(common, "hooks")))] satisfies ReadonlyArray<Said>
})

/** `paths`: what makes git take the folder for a repository; absent: the files that say more. */
const asRepository = (
  said: ReadonlyArray<Said>,
  paths?: NestedRepository["paths"]
): ReadonlyArray<NestedRepository> => {
  if (said.length === 0) return []
  const digest = createHash("sha256").update(JSON.stringify(said)).digest("hex")
  return [
    { paths: paths ?? said.map(({ path }) => path), says: [...new Set(said.flatMap(({ says }) => says))], digest }
  ]
}

/** The git directory behind `.git`; undefined: there is none. */
const directoryOf = async (path: string): Promise<string | "unclear" | undefined> => {
  const real = await realpath(path).catch(() => undefined)
  const found = real === undefined ? undefined : await lstat(real).catch(() => undefined)
  if (real === undefined || found === undefined) return undefined
  if (found.isDirectory()) return real
  const directory = await pointed(real, "gitdir: ")
  return directory === undefined || directory === "unclear" ? directory : realpath(directory).catch(() => directory)
}

/** By these names git takes a folder for a repository, `HEAD` in every one without a working tree, and Claude one for its own. */
const names = ["(", "-name", ".git", "-o", "-name", "HEAD", "-o", "-iname", skillsHome, "-o", ...instructionSearch, ")"]

/** More than the largest tree of anybody has; to look at so many takes a minute. */
const mostCandidates = 20_000
const mostBytes = 16 * 1024 * 1024

/** The folder directly below the workspace with most of the paths. Pure. */
export const mostIn = (workspace: string, paths: ReadonlyArray<string>): string => {
  const counts = new Map<string, number>()
  for (const path of paths) {
    const [first = ""] = path.slice(workspace.length + 1).split("/", 1)
    counts.set(first, (counts.get(first) ?? 0) + 1)
  }
  const [most] = [...counts].toSorted(([, one], [, other]) => other - one)
  return join(workspace, most?.[0] ?? "")
}

/** Where in the tree a repository may be. The workspace's own is left out. */
const candidates = Effect.fnUntraced(function* ({ stateDirectory, workspace }: Place, most: number) {
  const search = splitPath(process.env["PATH"] ?? "", [dirname(stateDirectory)]).outside
  const { isCut, paths } = yield* findPaths(
    [
      workspace,
      ...["(", "-path", join(workspace, ".git"), "-o", "-path", stateDirectory, "-o"],
      ...["-path", join(workspace, skillsHome), ")", "-prune"],
      // What cannot be listed could be entered all the same.
      ...["-o", "-type", "d", "!", "-perm", "-500", "-exec", "chmod", "u+rx", "{}", ";", "!", "-name", "*"],
      ...["-o", ...names, "-print0"]
    ],
    { mostBytes, search }
  )
  return isCut || paths.length > most
    ? yield* new TooManyRepositories({ workspace, most, folder: mostIn(workspace, paths.map(String)) })
    : paths
})

/** git asks for these where the common directory is. */
const isBare = async (folder: string): Promise<boolean> => {
  if ((await lstat(join(folder, "commondir")).catch(() => undefined)) !== undefined) return true
  const found = await Promise.all(["objects", "refs"].map((name) => stat(join(folder, name)).catch(() => undefined)))
  return found.every((one) => one?.isDirectory() === true)
}

/** What lies there nothing of Reprise's can ask git about; a command alone makes such a folder. */
const atUnnamed = Effect.fnUntraced(function* (path: Buffer) {
  const folder = path.subarray(0, path.lastIndexOf(sep))
  const isFolder = (from: Buffer, name: string) =>
    stat(Buffer.concat([from, Buffer.from(`${sep}${name}`)])).then(
      (found) => found.isDirectory(),
      () => false
    )
  const name = String(path.subarray(folder.length + 1))
  const needs = { ".git": [], HEAD: ["objects", "refs"] }[name]
  const found = needs === undefined ? [isFolder(path, "skills")] : needs.map((one) => isFolder(folder, one))
  const isObeyed = (yield* Effect.promise(() => Promise.all(found))).every(Boolean)
  const said = { path: String(path), says: ["a path that is no text"], content: path.toString("latin1") }
  return isObeyed ? asRepository([said], [path]) : []
})

const atCandidate = Effect.fnUntraced(function* (bytes: Buffer, place: Search) {
  const { git, workspace } = place
  const path = textOfPath(bytes)
  if (path === undefined) return yield* atUnnamed(bytes)
  const folder = dirname(path)
  if (basename(path).toLowerCase() === skillsHome) {
    const found = yield* Effect.promise(() => skillsAt(path))
    return asRepository(found === undefined ? [] : [found])
  }
  if (isInstructionName(path)) {
    const found = yield* Effect.promise(() => instructionsAt(path))
    return asRepository(found === undefined ? [] : [found])
  }
  if (basename(path) === "HEAD") {
    // That of the workspace itself may not be made anyway, and one of `.git` is found with it.
    if (folder === workspace || basename(folder) === ".git") return []
    return (yield* Effect.promise(() => isBare(folder))) ? asRepository(yield* saidBy(folder, place), [path]) : []
  }
  const directory = yield* Effect.promise(() => directoryOf(path))
  if (directory === undefined) return []
  if (directory === "unclear") return asRepository([unclearPointer(path)], [path])
  // What a submodule or a worktree of the workspace says is in the repository's own git directory.
  const own = git === undefined ? [] : [git.common, git.directory, ...git.repositories, ...git.worktrees]
  if (own.includes(directory)) return []
  const hooks = yield* Effect.forEach(place.hooks, (name) => hooksAt(join(folder, name)))
  return asRepository([...(yield* saidBy(directory, place)), ...hooks.flat()], [path])
})

/** What submodules and other worktrees say, in the git directory of the workspace's own repository. */
const atOwn = Effect.fnUntraced(function* (directory: string, common: string, place: Search) {
  const pointer = join(directory, "commondir")
  const leads = yield* Effect.promise(() => pointed(pointer))
  if (leads === undefined) return asRepository(yield* saidBy(directory, place))
  const real = leads === "unclear" ? leads : yield* Effect.promise(() => realpath(leads).catch(() => leads))
  const said =
    real === common ? yield* configurationAt(join(directory, "config.worktree"), place) : [unclearPointer(pointer)]
  return asRepository(said)
})

/** So many places are looked at at the same time: for some, git is started. */
const atOnce = { concurrency: 4 }

/**
 * Every repository in the tree that says more than git writes itself. `most`: more places that may be one are refused, with
 * `TooManyRepositories`.
 */
export const nestedRepositories = Effect.fn("nestedRepositories")(function* (
  place: Place,
  settingsIn: ConfigurationReader,
  most = mostCandidates
) {
  const { git } = place
  const search: Search = { ...place, settingsIn }
  const inTree = yield* Effect.forEach(yield* candidates(place, most), (path) => atCandidate(path, search), atOnce)
  if (git === undefined) return inTree.flat()
  const directories = [...git.repositories, ...git.worktrees]
  const others = directories.filter((one) => one !== git.common && one !== git.directory)
  const own = yield* Effect.forEach(others, (one) => atOwn(one, git.common, search), atOnce)
  return [...inTree.flat(), ...own.flat()]
})
