/**
 * What git runs by its configuration and its hooks that files of the working tree decide about: a program in the tree, or one that
 * looks there for what to run. An agent writes the tree, and git outside of the sandbox runs it later. Reads only.
 */
import { basename, join, resolve } from "node:path"
import { readForeignFolder, readForeignText } from "@reprise/process"
import { isWithin } from "../policy/mounts.ts"
import { type Environment, gitConfigurationOf, gitRepositoryOf, homeOf } from "./askGit.ts"
import { type GitSetting, namedPathOf } from "./gitKeys.ts"
import { filesOfCommand } from "./gitPlaces.ts"

/** Programs that find what they run in the folder that they are started in, by a file that a tree may have. */
const lookups: ReadonlySet<string> = new Set([
  ...[
    "npx",
    "pnpx",
    "bunx",
    "pnpm",
    "yarn",
    "tox",
    "nox",
    "rake",
    "composer",
    "cargo",
    "dotnet",
    "gradle",
    "gradlew",
    "mvn"
  ],
  ...["pre-commit", "pre_commit", "husky", "lefthook", "lint-staged", "simple-git-hooks", "overcommit"]
])

/** Those that do it by one of these words. */
const lookupsBy: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["npm", ["x", "exec", "run", "run-script", "test", "start"]],
  ["bun", ["x", "run"]],
  ["deno", ["run", "task"]],
  ["uv", ["run"]],
  ["poetry", ["run"]],
  ["pipenv", ["run"]],
  ["bundle", ["exec"]],
  ["go", ["run", "tool"]],
  ["mise", ["x", "exec", "run"]]
])

/** Words of the language, too: at the beginning of a command alone. */
const lookupsFirst: ReadonlySet<string> = new Set(["make", "just", "task"])

const beforeCommands: ReadonlySet<string> = new Set(["exec", "env", "command", "if", "then", "do", "else"])

const isModule = (options: ReadonlyArray<string>): boolean =>
  options.find((word) => !word.startsWith("-") || word.startsWith("-m"))?.startsWith("-m") === true

const lookupAt = (words: ReadonlyArray<string>, at: number): string | undefined => {
  const word = words[at] ?? ""
  const name = basename(word.replace(/^-m/, ""))
  if (lookups.has(name)) return name
  const next = words[at + 1] ?? ""
  if (lookupsBy.get(name)?.includes(next) === true) return `${name} ${next}`
  if (/^python[\d.]*$/.test(name) && isModule(words.slice(at + 1))) return `${name} -m`
  const isFirst = words.slice(0, at).every((before) => beforeCommands.has(basename(before)))
  return isFirst && lookupsFirst.has(name) ? name : undefined
}

/** The words of a command by which the tree decides what runs; undefined: there are none. Pure. */
export const lookupIn = (command: string): string | undefined => {
  for (const simple of command.split(/[;&|(){}!`"'\n]/)) {
    const words = simple.split(/\s/).filter((word) => word !== "")
    for (const at of words.keys()) {
      const found = lookupAt(words, at)
      if (found !== undefined) return found
    }
  }
  return undefined
}

export interface TreeProgram {
  /** A key of git's configuration, or the path of a hook. */
  readonly name: string
  /** What it says: a value, or a line of a hook. */
  readonly text: string
  /** Of the configuration; absent: of the hook itself, or a variable. */
  readonly file?: string
}

const largestHook = 64 * 1024
const mostHooks = 1_000

/** Aliases only run when a person types them. */
const isTyped = (key: string) => key.startsWith("alias.")

/** The lines of hooks that are scripts. */
const linesOfHooks = async (folder: string): Promise<ReadonlyArray<TreeProgram>> => {
  const entries = (await readForeignFolder(folder, { mostEntries: mostHooks }).catch(() => undefined)) ?? []
  const hooks = entries.map(({ name }) => join(folder, name)).filter((path) => !path.endsWith(".sample"))
  const lines = hooks.map(async (name) => {
    const text = await readForeignText(name, { largestBytes: largestHook, follow: true }).catch(() => undefined)
    return (text ?? "").split("\n").map((line) => ({ name, text: line.trim() }))
  })
  return (await Promise.all(lines)).flat().filter(({ text }) => text !== "" && !text.startsWith("#"))
}

/** One for each setting and each hook. Empty where there is no repository. Rejected where git does not say what it obeys. */
export const treeProgramsOf = async (
  workspace: string,
  environment: Environment
): Promise<ReadonlyArray<TreeProgram>> => {
  const repository = await gitRepositoryOf(workspace, environment)
  if (repository === undefined) return []
  const { named, settings } = await gitConfigurationOf(repository, environment, [])
  const isBelow = (path: string) => path !== workspace && isWithin(path, workspace)
  const home = homeOf(environment)
  const hookFolders = named.flatMap(({ as, text }) => (as === "hooks" ? [resolve(workspace, text)] : []))
  const isOfTree = async (setting: GitSetting): Promise<boolean> => {
    const [first] = namedPathOf(setting)
    if (first === undefined || isTyped(setting.key)) return false
    if (first.as === "hooks") return isBelow(resolve(workspace, first.text))
    if (first.as !== "program") return false
    if (lookupIn(first.text) !== undefined) return true
    return filesOfCommand(first.text, { workTrees: [workspace], home }).some(isBelow)
  }
  const ofSettings = settings.map(async (setting): Promise<ReadonlyArray<TreeProgram>> => {
    const { file, key, value = "" } = setting
    return (await isOfTree(setting)) ? [{ name: key, text: value, ...(file === undefined ? {} : { file }) }] : []
  })
  const ofHooks = (hookFolders.length === 0 ? [join(repository.common, "hooks")] : hookFolders).map(async (folder) => {
    const lines = (await linesOfHooks(folder)).filter(({ text }) => lookupIn(text) !== undefined)
    return [...new Map(lines.map((one) => [one.name, one])).values()]
  })
  return (await Promise.all([...ofSettings, ...ofHooks])).flat()
}
