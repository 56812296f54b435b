/**
 * Repositories inside of a working tree that bring a configuration of their own: every git that looks at the tree outside of
 * the sandbox, the user's prompt and editor among them, would obey it (docs/design/workspace.md#sandbox). Reads only.
 */
import { createHash } from "node:crypto"
import { lstat, realpath, stat } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { hasCode, readForeignFile, readForeignFolder, runGit, runProgram, splitPath } from "@reprise/process"
import { Effect } from "effect"
import type { GitRepository } from "./askGit.ts"
import type { Directories } from "./gitPlaces.ts"
import { isWithin } from "./policy.ts"
import { isHook, readSettings, unusualKeys } from "./repositoryConfiguration.ts"

/** A repository that says more than git writes itself. */
export interface NestedRepository {
  /** Without these, no git obeys it. */
  readonly paths: ReadonlyArray<string>
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
}

const largestBytes = 1024 * 1024
const mostEntries = 1000
const unreadable = "a configuration that cannot be read"

/** Undefined: there is none. */
const textOf = (path: string): Promise<Buffer | typeof unreadable | undefined> =>
  readForeignFile(path, { largestBytes }).catch(() => unreadable)

/** What one file, or the folder of hooks, says more than git writes itself. */
interface Said {
  readonly path: string
  readonly says: ReadonlyArray<string>
  readonly content: string
}

/** git reads the text itself, without the files that it would include. */
const configurationAt = Effect.fnUntraced(function* (path: string, { stateDirectory, workspace }: Place) {
  const text = yield* Effect.promise(() => textOf(path))
  if (text === undefined) return []
  if (text === unreadable) return [{ path, says: [unreadable], content: text }]
  const isOwnTree = (tree: string) => isWithin(resolve(dirname(path), tree), workspace)
  const says = yield* runGit(stateDirectory, ["config", "--file", "-", "--no-includes", "--list", "-z"], {
    input: text.toString("latin1"),
    timeoutMs: 10_000
  }).pipe(
    Effect.map(({ exitCode, stdout }) =>
      exitCode === 0 ? unusualKeys(readSettings(stdout), isOwnTree) : [unreadable]
    ),
    Effect.orElseSucceed(() => [unreadable])
  )
  return says.length === 0 ? [] : [{ path, says, content: text.toString("latin1") }]
})

const hooksAt = (path: string) =>
  Effect.promise(async (): Promise<ReadonlyArray<Said>> => {
    try {
      if ((await lstat(path)).isSymbolicLink()) return [{ path, says: ["hooks elsewhere"], content: "" }]
      const names = (await readForeignFolder(path, { mostEntries }))?.map(({ name }) => name) ?? []
      const says = names.filter(isHook).map((name) => `hook ${name}`)
      return says.length === 0 ? [] : [{ path, says, content: "" }]
    } catch (error) {
      return hasCode(error, "ENOENT", "ENOTDIR") ? [] : [{ path, says: ["hooks that cannot be read"], content: "" }]
    }
  })

/** What a pointer to a folder, in a file of git's, leads to. Undefined: there is none. */
const pointed = async (path: string, prefix: RegExp): Promise<string | undefined> => {
  const text = await textOf(path)
  if (!Buffer.isBuffer(text)) return undefined
  const [line = ""] = text.toString("utf8").split("\n", 1)
  return resolve(dirname(path), line.replace(prefix, "").trimEnd())
}

/** Everything that a git directory says more than git writes itself. */
const saidBy = Effect.fnUntraced(function* (directory: string, place: Place) {
  const common = (yield* Effect.promise(() => pointed(join(directory, "commondir"), /^/))) ?? directory
  const files = new Set([join(common, "config"), join(common, "config.worktree"), join(directory, "config.worktree")])
  const said = yield* Effect.forEach([...files], (path) => configurationAt(path, place))
  return [...said.flat(), ...(yield* hooksAt(join(common, "hooks")))] satisfies ReadonlyArray<Said>
})

/** `paths`: what makes git take the folder for a repository; absent: the files that say more. */
const asRepository = (said: ReadonlyArray<Said>, paths?: ReadonlyArray<string>): ReadonlyArray<NestedRepository> => {
  if (said.length === 0) return []
  const digest = createHash("sha256").update(JSON.stringify(said)).digest("hex")
  return [
    { paths: paths ?? said.map(({ path }) => path), says: [...new Set(said.flatMap(({ says }) => says))], digest }
  ]
}

/** The git directory behind `.git`; undefined: there is none. */
const directoryOf = async (path: string): Promise<string | undefined> => {
  const real = await realpath(path).catch(() => undefined)
  const found = real === undefined ? undefined : await lstat(real).catch(() => undefined)
  if (real === undefined || found === undefined) return undefined
  return found.isDirectory() ? real : pointed(real, /^gitdir:\s*/)
}

/** By these names git takes a folder for a repository; `HEAD` is in every one without a working tree. */
const names = ["(", "-name", ".git", "-o", "-name", "HEAD", ")"]

/** Where in the tree a repository may be. The workspace's own is left out. */
const candidates = ({ stateDirectory, workspace }: Place) =>
  runProgram({
    program: "find",
    args: [
      workspace,
      ...["(", "-path", join(workspace, ".git"), "-o", "-path", stateDirectory, ")", "-prune"],
      ...["-o", ...names, "-print0"]
    ],
    environment: { PATH: splitPath(process.env["PATH"] ?? "", dirname(stateDirectory)).outside, LC_ALL: "C" }
  }).pipe(Effect.map(({ stdout }) => stdout.split("\0").filter((path) => path !== "")))

const isBare = async (folder: string): Promise<boolean> => {
  const found = await Promise.all(["objects", "refs"].map((name) => stat(join(folder, name)).catch(() => undefined)))
  return found.every((one) => one?.isDirectory() === true)
}

const atCandidate = Effect.fnUntraced(function* (path: string, place: Place) {
  const { git, workspace } = place
  const folder = dirname(path)
  if (basename(path) === "HEAD") {
    // That of the workspace itself may not be made anyway, and one of `.git` is found with it.
    if (folder === workspace || basename(folder) === ".git") return []
    return (yield* Effect.promise(() => isBare(folder))) ? asRepository(yield* saidBy(folder, place), [path]) : []
  }
  const directory = yield* Effect.promise(() => directoryOf(path))
  const isOwn = (one: string) => git !== undefined && [git.common, git.directory].some((own) => isWithin(one, own))
  // What a submodule or a worktree of the workspace says is in the repository's own git directory.
  return directory === undefined || isOwn(directory) ? [] : asRepository(yield* saidBy(directory, place), [path])
})

/** What submodules and other worktrees say, in the git directory of the workspace's own repository. */
const atOwn = Effect.fnUntraced(function* (directory: string, common: string, place: Place) {
  const leads = yield* Effect.promise(() => pointed(join(directory, "commondir"), /^/))
  const said =
    leads === common
      ? yield* configurationAt(join(directory, "config.worktree"), place)
      : yield* saidBy(directory, place)
  return asRepository(said)
})

/** Every repository in the tree that says more than git writes itself. */
export const nestedRepositories = Effect.fn("nestedRepositories")(function* (place: Place) {
  const { git } = place
  const inTree = yield* Effect.forEach(yield* candidates(place), (path) => atCandidate(path, place))
  if (git === undefined) return inTree.flat()
  const directories = [...git.repositories, ...git.worktrees]
  const others = directories.filter((one) => one !== git.common && one !== git.directory)
  const own = yield* Effect.forEach(others, (one) => atOwn(one, git.common, place))
  return [...inTree.flat(), ...own.flat()]
})
