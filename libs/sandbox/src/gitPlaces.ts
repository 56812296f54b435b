/** Where the git of a workspace keeps what it obeys. Reads only. */
import { readdir, readFile } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { find, findAll, pathsOf } from "./found.ts"
import { type GitPlaces, isWithin } from "./policy.ts"

const firstLine = (text: string) => text.split("\n", 1)[0]?.trim() ?? ""

/**
 * Below `modules`, where git keeps submodules, which have submodules of their own. A command can take `HEAD` away and put it
 * back later, but not the configuration.
 */
const submodules = async (directory: string, depth = 0): Promise<ReadonlyArray<string>> => {
  if (depth > 6) return []
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  if (entries.some((entry) => entry.isFile() && ["HEAD", "config"].includes(entry.name))) {
    return [directory, ...(await submodules(join(directory, "modules"), depth + 1))]
  }
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => submodules(join(directory, name), depth + 1))
  return (await Promise.all(below)).flat()
}

const longestChain = 8

const lineWith = (name: string) => new RegExp(`^[^#;\\n]*?\\b${name}\\s*=\\s*"?([^"\\n]+?)"?\\s*$`, "gim")

const named = (text: string, name: string, home: string, base: string): ReadonlyArray<string> =>
  [...text.matchAll(lineWith(name))].flatMap(([, path]) =>
    path === undefined ? [] : [path.startsWith("~/") ? join(home, path.slice(2)) : resolve(base, path)]
  )

/**
 * The files that a configuration of git includes, whatever the condition, those that they include, and the folders that
 * they name for hooks. Too many are named rather than too few: any line that gives a path counts.
 */
const namedBy = async (
  config: string,
  at: { readonly home: string; readonly workspace: string },
  known: ReadonlySet<string> = new Set()
): Promise<ReadonlyArray<string>> => {
  const text = await readFile(config, "utf8").catch(() => "")
  const found = named(text, "path", at.home, dirname(config)).filter((path) => !known.has(path))
  const hooks = named(text, "hookspath", at.home, at.workspace)
  if (known.size > longestChain) return [...found, ...hooks]
  const deeper = await Promise.all(found.map((path) => namedBy(path, at, new Set([...known, ...found]))))
  return [...found, ...hooks, ...deeper.flat()]
}

const foldersIn = async (path: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}

/** Reads the files as git does; running git would obey the configuration that is to be guarded. */
export const gitPlacesOf = async (workspace: string, home = homedir()): Promise<GitPlaces | undefined> => {
  const dotGit = await find(join(workspace, ".git"))
  if (dotGit === undefined) return undefined
  const pointed =
    dotGit.kind === "folder"
      ? dotGit
      : await find(resolve(workspace, firstLine(await readFile(dotGit.path, "utf8")).replace(/^gitdir: /, "")))
  if (pointed?.kind !== "folder") return undefined
  const directory = pointed.path
  const common = await readFile(join(directory, "commondir"), "utf8").then(
    (text) => find(resolve(directory, firstLine(text))),
    () => pointed
  )
  if (common === undefined) return undefined
  const submodulesOf = async (one: string) => submodules(join(one, "modules"))
  const worktreesOf = (one: string) => foldersIn(join(one, "worktrees"))
  const ownWorktrees = await worktreesOf(common.path)
  const below = (await Promise.all([common.path, ...ownWorktrees].map(submodulesOf))).flat()
  const repositories = [common.path, ...below]
  const worktrees = [...ownWorktrees, ...(await Promise.all(below.map(worktreesOf))).flat()]
  const configurations = [
    ...[join(common.path, "config"), join(directory, "config.worktree")],
    ...[join(home, ".gitconfig"), join(home, ".config", "git", "config")]
  ]
  const obeyed = [
    ...repositories.flatMap((one) =>
      ["hooks", "config", "config.worktree", "commondir"].map((name) => join(one, name))
    ),
    ...worktrees.flatMap((one) => ["commondir", "gitdir", "config.worktree"].map((name) => join(one, name))),
    ...(await Promise.all(configurations.map((one) => namedBy(one, { home, workspace })))).flat()
  ].filter((path) => !isWithin(workspace, path))
  return {
    directory,
    common: common.path,
    ...(dotGit.kind === "file" ? { pointer: dotGit.path } : {}),
    directories: [...repositories, ...worktrees],
    executable: pathsOf(await findAll(obeyed)),
    obeyed: [...new Set(obeyed)]
  }
}

/** Where git looks for hooks. */
export const hooksOf = (git: GitPlaces | undefined): string | undefined =>
  git === undefined ? undefined : join(git.common, "hooks")
