/**
 * Asks the user's git where a repository is and what it is configured to do. Only subcommands that start nothing themselves;
 * and the answers are kept as long as every file that they came from is the same one.
 */
import { lstat, realpath, stat } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"
import {
  commonDirectoryOf,
  GitLimits,
  hasCode,
  isUnclear,
  rememberWhile,
  runProgram,
  untilBlocked
} from "@reprise/process"
import { Effect } from "effect"
import { waysTo } from "../disk/pathsOnDisk.ts"
import { type GitSetting, type NamedPath, namedByEnvironment, namedPathOf, needsGit, readListing } from "./gitKeys.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** All paths are absolute. */
export interface GitRepository {
  /** Where the working tree is. */
  readonly workspace: string
  /** Of this working tree, and of the repository; the same unless it is a worktree of another. Real. */
  readonly directory: string
  readonly common: string
  /** `.git`, where it is a file that names the directory. */
  readonly pointer?: string
}

/** What git answers within; it needs some thousandths of it. */
const timeoutMs = 20_000

/** Of a configuration, in bytes, and how many files of it there may be: more than anybody has. */
const largestFile = 1024 * 1024
const mostFiles = 5000
/** So many gits read files at the same time: a repository may have hundreds of submodules. */
const atOnce = 4
/** As deep as git itself follows includes. */
const deepest = 10

/**
 * The user's own: git's answer must be what the user's git obeys. Of the variables that direct git elsewhere only those stay
 * that say where configuration is.
 */
const environmentOf = (host: Environment, home: string): Record<string, string> => {
  const kept = Object.entries(host).flatMap(([name, value]) =>
    value === undefined ||
    (/^GIT_/.test(name) && !/^GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)$/.test(name))
      ? []
      : [[name, value] as const]
  )
  const own = { HOME: home, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" }
  return { ...Object.fromEntries(kept), ...own }
}

export const homeOf = (environment: Environment): string => environment["HOME"] ?? homedir()

interface Asked {
  readonly workspace: string
  readonly environment: Environment
}

const ask = ({ environment, workspace }: Asked, args: ReadonlyArray<string>, more: Record<string, string> = {}) =>
  GitLimits.pipe(
    Effect.flatMap((limits) =>
      runProgram({
        program: "git",
        args: ["--no-pager", ...args],
        directory: workspace,
        environment: { ...environmentOf(environment, homeOf(environment)), ...more },
        ...limits,
        timeoutMs
      })
    ),
    Effect.raceFirst(untilBlocked(workspace)),
    Effect.runPromise
  )

const insist = async (asked: Asked, args: ReadonlyArray<string>): Promise<string> => {
  const more = await exactly(asked.workspace)
  const { exitCode, stderr, stdout } = await ask(asked, args, more)
  if (exitCode === 0) return stdout
  const said = stderr.trim().slice(0, 500)
  throw new Error(
    `git does not say what it obeys in ${asked.workspace}: ${said === "" ? `exit code ${exitCode}` : said}. Repair it, so that 'git config --list' works there.`
  )
}

/** This repository, and none above it. */
const exactly = async (workspace: string) => {
  const common = await commonDirectoryOf(workspace)
  return { GIT_DIR: join(workspace, ".git"), ...(common === undefined ? {} : { GIT_COMMON_DIR: common }) }
}

const locate = async (asked: Asked): Promise<GitRepository> => {
  const { workspace } = asked
  const args = ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"]
  const [directory = "", common = ""] = (await insist(asked, args)).split("\n")
  const isFile = (await lstat(join(workspace, ".git"))).isFile()
  const pointer = isFile ? { pointer: join(workspace, ".git") } : {}
  return { workspace, directory: await realpath(directory), common: await realpath(common), ...pointer }
}

const repositories = rememberWhile<GitRepository>(({ directory, workspace }) => [
  join(workspace, ".git"),
  join(directory, "commondir")
])

/** What git's answers follow from, besides files. */
const asText = ({ environment, workspace }: Asked) =>
  JSON.stringify([
    workspace,
    Object.entries(environment).filter(([name]) => /^(GIT_|XDG_CONFIG_HOME$|HOME$|PATH$)/.test(name))
  ])

/**
 * Undefined: the folder has no `.git`. Rejected where it has one and git says nothing about it: then nobody knows what must be
 * protected. `workspace`: real.
 */
export const gitRepositoryOf = async (
  workspace: string,
  environment: Environment
): Promise<GitRepository | undefined> => {
  const dotGit = await lstat(join(workspace, ".git")).catch((error) =>
    hasCode(error, "ENOENT", "ENOTDIR") ? undefined : Promise.reject(error)
  )
  const asked = { workspace, environment }
  return dotGit === undefined ? undefined : await repositories(asText(asked), () => locate(asked))
}

export interface GitConfiguration {
  readonly settings: ReadonlyArray<GitSetting>
  /** What they name, besides the files below; `~`, `~user` and `%(prefix)` are resolved. */
  readonly named: ReadonlyArray<NamedPath>
  /** Whether they exist or not, and whether or not the condition of an include holds now. Absolute. */
  readonly files: ReadonlyArray<string>
}

/** What git makes of `~`, `~user` and `%(prefix)`; one that it cannot say names no place for git either. */
const expanded = async (asked: Asked, texts: ReadonlyArray<string>): Promise<ReadonlyArray<string | undefined>> => {
  if (texts.length === 0) return []
  const key = "reprise.place"
  const variables = Object.fromEntries([
    ["GIT_CONFIG_COUNT", `${texts.length}`],
    ...texts.flatMap((text, n) => [
      [`GIT_CONFIG_KEY_${n}`, key],
      [`GIT_CONFIG_VALUE_${n}`, text]
    ])
  ])
  // No other configuration says something under this key.
  const nothingElse = { GIT_DIR: "/dev/null", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" }
  const { exitCode, stdout } = await ask(asked, ["config", "--type=path", "-z", "--get-all", key], {
    ...nothingElse,
    ...variables
  })
  if (exitCode === 0) return stdout.split("\0").slice(0, texts.length)
  if (texts.length === 1) {
    // Either there is no such user, or nothing can be asked.
    if (texts[0] !== "/") await expanded(asked, ["/"])
    else throw new Error(`git does not say where paths of its configuration are: exit code ${exitCode}.`)
    return [undefined]
  }
  return (await Promise.all(texts.map((text) => expanded(asked, [text])))).flat()
}

/** The named paths as git resolves them before it looks where they are relative to. */
const withPathsExpanded = async (asked: Asked, named: ReadonlyArray<NamedPath>): Promise<ReadonlyArray<NamedPath>> => {
  const texts = [...new Set(named.filter(needsGit).map(({ text }) => text))]
  const paths = await expanded(asked, texts)
  return named.flatMap((one) => {
    const at = texts.indexOf(one.text)
    if (at === -1 || !needsGit(one)) return [one]
    const text = paths[at]
    return text === undefined ? [] : [{ ...one, text }]
  })
}

/** What a file says for itself; nothing where git cannot read it: then whatever includes it fails. */
const settingsIn = async (asked: Asked, file: string): Promise<ReadonlyArray<GitSetting>> => {
  const found = await stat(file).catch(() => undefined)
  if (found?.isFile() !== true) return []
  if (found.size > largestFile) throw new Error(`${file} has ${found.size} bytes: too many for a configuration of git.`)
  const { exitCode, stdout } = await ask(asked, [
    "config",
    "--file",
    file,
    "--list",
    "-z",
    "--show-origin",
    "--no-includes"
  ])
  return exitCode === 0 ? readListing(stdout, (path) => resolve(asked.workspace, path)) : []
}

const includedBy = async (asked: Asked, settings: ReadonlyArray<GitSetting>): Promise<ReadonlyArray<string>> => {
  const includes = settings.flatMap(namedPathOf).filter(({ as }) => as === "include")
  return (await withPathsExpanded(asked, includes)).flatMap(({ file, text }) =>
    // git includes nothing that is relative to a variable.
    file !== undefined || isAbsolute(text) ? waysTo(file === undefined ? "/" : dirname(file), text) : []
  )
}

/** Of a path that is no UTF-8 the text is another path, at which nothing would be protected. */
const requireClear = (workspace: string, settings: ReadonlyArray<GitSetting>, named: ReadonlyArray<NamedPath>) => {
  const setting = settings.find(
    (one) =>
      isUnclear(one.file ?? "") ||
      (isUnclear(one.value ?? "") && (one.key === "core.worktree" || namedPathOf(one).length > 0))
  )
  const text = setting?.value ?? named.find((one) => isUnclear(one.text))?.text
  if (setting === undefined && text === undefined) return
  const where = setting === undefined ? "" : ` of ${setting.key} in ${setting.file ?? "the environment"}`
  throw new Error(
    `Reprise cannot protect what git obeys in ${workspace}: the path ${JSON.stringify(text ?? "")}${where} is no UTF-8. Rename it, and save the configuration as UTF-8.`
  )
}

/** git reads some of the files by itself; the others are those of conditions that do not hold now, and of submodules. */
const read = async (asked: Asked, more: ReadonlyArray<string>): Promise<GitConfiguration> => {
  const list = ["config", "--list", "-z", "--show-origin", "--includes"]
  const listed = await insist(asked, list)
  const settings = [...readListing(listed, (path) => resolve(asked.workspace, path))]
  const files = new Set(settings.flatMap(({ file }) => file ?? []))
  let next = [...more, ...(await includedBy(asked, settings))]
  for (let depth = 0; depth <= deepest && next.length > 0; depth++) {
    const unread = [...new Set(next)].filter((file) => !files.has(file))
    for (const file of unread) files.add(file)
    if (files.size > mostFiles)
      throw new Error(
        `The configuration of git for ${asked.workspace} has more than ${mostFiles} files, those of submodules below ${join(asked.workspace, ".git", "modules")} included. Remove what does not belong there.`
      )
    const said: Array<GitSetting> = []
    for (let at = 0; at < unread.length; at += atOnce) {
      const some = unread.slice(at, at + atOnce).map((file) => settingsIn(asked, file))
      said.push(...(await Promise.all(some)).flat())
    }
    settings.push(...said)
    next = [...(await includedBy(asked, said))]
  }
  const inText = settings.flatMap(namedPathOf).filter(({ as }) => as !== "include")
  const named = await withPathsExpanded(asked, inText)
  requireClear(asked.workspace, settings, [...named, ...namedByEnvironment(asked.environment)])
  return { settings, named, files: [...files, ...next] }
}

const configurations = rememberWhile<GitConfiguration>(({ files }) => files)

/**
 * All that git of this machine is configured to do in a repository, whatever branch is checked out. `more`: files that are
 * configuration as well. Rejected where git does not say it.
 */
export const gitConfigurationOf = (
  { workspace }: GitRepository,
  environment: Environment,
  more: ReadonlyArray<string>
): Promise<GitConfiguration> => {
  const asked = { workspace, environment }
  return configurations(`${asText(asked)} ${more.join("\0")}`, () => read(asked, more))
}
