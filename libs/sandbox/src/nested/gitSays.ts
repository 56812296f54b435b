/**
 * What a configuration of git and a folder of hooks say more than git writes itself, with the content of what they name: whatever
 * changes there is another repository to whoever looks at the tree. Reads only.
 */
import { lstat, readlink, realpath } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { hasCode, readForeignFolder } from "@reprise/process"
import { Effect } from "effect"
import { contentOf, contentsBelow, contentsOf, listedIn, mostListed } from "../disk/contentOf.ts"
import { makeLeadsTo } from "../disk/pathsOnDisk.ts"
import { filesOfCommand } from "../git/gitPlaces.ts"
import { includedSettings } from "../git/includedSettings.ts"
import { isWithin } from "../policy/mounts.ts"
import type { ConfigurationReader } from "./configurationReader.ts"
import { textOf, unreadable } from "./gitPointers.ts"
import { costOf, costOfGit, type Spend, TooMuchToLookAt } from "./lookLimits.ts"
import { type NamedTree, namedTreeAt, noText } from "./namedTrees.ts"
import { isHook, unusualKeys } from "./repositoryConfiguration.ts"
import type { Place } from "./treeSearch.ts"

/** A place whose repositories are looked for. */
export interface Search extends Place {
  readonly settingsIn: ConfigurationReader
  /** Of the candidate that is looked at. */
  readonly spend: Spend
  /** Takes what counts under a name that is none of git's: when it changes, somebody has to look again. */
  readonly dependsOn: (path: string) => void
}

/** A look at the disk. What fails, fails the look as a whole: nobody knows what is there. */
export const onDisk = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))) })

/** What one file, or the folder of hooks, says more than git writes itself. */
export interface Said {
  readonly path: string
  readonly says: ReadonlyArray<string>
  readonly content: string
  /** Nobody sees when a command changes what counts there. */
  readonly isUnseen?: true
}

/** The files in a folder, or the file itself, with what they say. */
const textsAt = async (path: string, spend: Spend): Promise<ReadonlyArray<string>> => {
  spend(costOf(path.length))
  const entries = await listedIn(path)
  const names = entries?.filter((entry) => !entry.isDirectory()).map(({ name }) => join(path, name))
  const files = (names ?? [path]).toSorted()
  const contents = await contentsOf(files, spend)
  return files.map((file, at) => `${file} ${contents[at]}`)
}

/** Also what links lead to. */
export const dependOn = async (path: string, { dependsOn }: Pick<Search, "dependsOn">): Promise<void> => {
  dependsOn(path)
  dependsOn(await realpath(path).catch(() => path))
}

/**
 * What stands where a value may lead: files, files in folders, and those of a command line. What husky names `_` runs the hooks
 * in the folder around it.
 */
const namedBy = async (bases: ReadonlyArray<string>, values: ReadonlyArray<string>, place: Search) => {
  const { spend } = place
  const texts: Array<string> = []
  for (const value of new Set(values.filter((one) => one !== "" && !one.includes("\0")))) {
    spend(bases.length * costOf(value.length))
    const paths = bases.map((base) => resolve(base, value))
    const around = paths.filter((path) => basename(path) === "_").map((path) => dirname(path))
    const ofCommand = filesOfCommand(value, { home: process.env["HOME"] ?? "/", workTrees: bases }, spend)
    for (const path of new Set([...paths, ...around, ...ofCommand])) {
      await dependOn(path, place)
      texts.push(...(await textsAt(path, spend)))
    }
  }
  return texts
}

/** What is a link or too large says more than is known: it counts as another one as soon as anything there changes. */
const contentUnread = async (path: string, place: Search): Promise<string> => {
  await dependOn(path, place)
  const real = await realpath(path).catch(() => path)
  return [...(await contentsBelow(path, place.spend)), await contentOf(real, place.spend)].join("\0")
}

/** As `git init` writes a configuration: most need no look by git. */
const asInitialised =
  /^\[core\]\n\trepositoryformatversion = 0\n\tfilemode = (true|false)\n\tbare = (true|false)\n(\tlogallrefupdates = true\n)?$/

/** What one configuration says. */
interface Read {
  readonly said: ReadonlyArray<Said>
  /** The working trees that it names. */
  readonly trees: ReadonlyArray<string>
}

const ordinary: Read = { said: [], trees: [] }

const addressKey = /^(remote|branch|submodule)\..+\.(url|pushurl|remote|pushremote)$/s

/** Whether a local address leads into a folder of git or of Reprise, where no look finds the hooks of what a command made there. */
const leadsHidden = (value: string, bases: ReadonlyArray<string>, { git, stateDirectory, workspace }: Search) => {
  const path = value.replace(/^file:\/\/[^/]*/i, "")
  const own = git === undefined ? [] : [git.common, git.directory, ...git.repositories, ...git.worktrees]
  const hidden = [...(git === undefined ? [] : [git.common, git.directory]), stateDirectory]
  // That of a run is a worktree in the folder of the state.
  const isOfRun = (at: string) => isWithin(workspace, stateDirectory) && isWithin(at, workspace)
  // git goes by the top of a working tree, and a submodule's directory is none.
  const named = bases
    .filter((base) => !hidden.some((one) => isWithin(base, one)) || isOfRun(base))
    .map((base) => resolve(base, path))
  return [...named, ...named.map(makeLeadsTo())].some(
    (at) => hidden.some((one) => isWithin(at, one)) && !own.includes(at) && !isOfRun(at)
  )
}

/** git reads the text itself, without the files that it would include. `directory`: of git, whose tree is `folder`. */
export const configurationAt = Effect.fnUntraced(function* (
  path: string,
  { directory, folder }: { readonly directory: string; readonly folder: string },
  place: Search
) {
  const { settingsIn, spend, stateDirectory } = place
  const text = yield* onDisk(async () => {
    spend(1)
    return await textOf(path)
  })
  if (text === undefined || (text !== unreadable && asInitialised.test(text.toString("latin1")))) return ordinary
  const unread = (content: string): Read => ({ said: [{ path, says: [unreadable], content }], trees: [] })
  if (text === unreadable) return unread(yield* onDisk(() => contentUnread(path, place)))
  yield* onDisk(async () => spend(costOfGit + costOf(text.length)))
  const settings = yield* settingsIn(stateDirectory, text)
  if (settings === undefined) return unread(text.toString("latin1"))
  // Without this key git in a worktree passes over the tree that the repository's configuration names.
  const isOfWorktree = settings.some(([key]) => key === "extensions.worktreeconfig")
  const from = isOfWorktree ? directory : dirname(path)
  const named = new Map<string, NamedTree>()
  for (const [key, value] of settings) {
    if (key !== "core.worktree" || named.has(value)) continue
    named.set(
      value,
      yield* onDisk(async () => {
        spend(costOf(value.length))
        return await namedTreeAt(value, from, place)
      })
    )
  }
  const trees = [...named.values()].flatMap(({ tree }) => tree ?? [])
  const isOwnTree = (value: string) => named.get(value)?.isOwn === true
  const unusualOnes = unusualKeys(settings, isOwnTree)
  const hidden = settings.filter(
    ([key, value]) => addressKey.test(key) && !value.includes("\0") && leadsHidden(value, [folder, ...trees], place)
  )
  const says = [...new Set([...unusualOnes, ...hidden.map(([key]) => key)])]
  if (says.length === 0) return { said: [], trees } satisfies Read
  const included = yield* includedSettings(path, settings, place)
  const unusual = settings.filter(([key]) => says.includes(key))
  const values = [...unusual, ...included].map(([, value]) => value)
  const inIncluded = unusualKeys(included, () => false)
  const isUnseen = [...unusual, ...included.filter(([key]) => inIncluded.includes(key))].some(([, value]) =>
    value.includes(noText)
  )
  const bases = [...new Set([dirname(path), dirname(dirname(path)), folder, ...trees])]
  const content = yield* onDisk(() => namedBy(bases, values, place))
  const said = { path, says, content: [text.toString("latin1"), ...content].join("\0") }
  const unseen: Said = { ...said, says: ["a path that is no text", ...says], isUnseen: true }
  return { said: [isUnseen ? unseen : said], trees } satisfies Read
})

/** The content counts: a hook that was there before may be another one now. */
export const hooksAt = (path: string, place: Search) =>
  onDisk(async (): Promise<ReadonlyArray<Said>> => {
    const { spend } = place
    spend(costOf(path.length))
    try {
      if ((await lstat(path)).isSymbolicLink()) {
        await dependOn(path, place)
        return [
          {
            path,
            says: ["hooks elsewhere"],
            content: [await readlink(path), ...(await textsAt(path, spend))].join("\0")
          }
        ]
      }
      const names =
        (await readForeignFolder(path, { mostEntries: mostListed }))?.map(({ name }) => name).filter(isHook) ?? []
      if (names.length === 0) return []
      const files = names.toSorted().map((name) => join(path, name))
      const around = basename(path) === "_" ? await textsAt(dirname(path), spend) : []
      const content = [...(await contentsOf(files, spend)), ...around].join("\0")
      return [{ path, says: names.map((name) => `hook ${name}`), content }]
    } catch (error) {
      if (error instanceof TooMuchToLookAt || hasCode(error, "ETOOMANY")) throw error
      if (hasCode(error, "ENOENT", "ENOTDIR")) return []
      return [{ path, says: ["hooks that cannot be read"], content: await contentUnread(path, place) }]
    }
  })
