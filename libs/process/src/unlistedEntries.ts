/**
 * What lies in the folders of a commit though no commit can hold it, and neither `git status` nor `git ls-files` shows it: named
 * pipes, sockets, folders without files, and whatever is called `.git`. `make` takes an empty folder for a target that is up to
 * date; linters stop where a `.git` is. So Reprise lists the folders itself (docs/design/workspace.md#what-gates-run-on).
 */
import type { Dirent } from "node:fs"
import { posix } from "node:path"
import { Effect } from "effect"
import { below, entriesOf, type FolderEntry, limitedTo, TooMany } from "./folderEntries.ts"
import { kindOf } from "./foreignFile.ts"
import { ignoredPaths, withoutBeginning } from "./ignoredPaths.ts"
import { onDisk } from "./ownIndex.ts"
import { asBytes, asClearText, type Bytes, fieldsOf } from "./pathBytes.ts"
import type { GitOptions } from "./runGit.ts"
import type { Committed } from "./selfHiddenFolders.ts"

/** An entry that git does not show, and the predicate of a sentence about it. A folder has no slash at its end. */
export interface Unlisted {
  readonly path: string
  readonly why: string
  /** Believed where it was there before anybody worked in the tree. */
  readonly mayStay?: true
  /** It holds nothing but folders, so that nothing is lost with it. */
  readonly isEmpty?: true
}

/** Code points that HFS+ leaves out when it compares names. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** Whether git takes a name for that of a repository's own folder, on any file system. Pure. */
export const isGitName = (name: string): boolean => {
  const [plain = ""] = name.replace(ignoredByHfs, "").toLowerCase().split(":")
  const found = plain.replace(/(?<![. ])[. ]+$/, "")
  return found === ".git" || found === "git~1"
}

/** What a folder holds is read up to so many entries: nobody has more of them in a commit's folders. */
const mostEntries = 5_000_000

/** Of those that no commit has. Each is asked about, and may be told. */
export const mostStrangers = 100_000

const atOnce = 64

/** On other systems a folder may be on the disk under another spelling than in the commit. */
const folded: (text: string) => string =
  process.platform === "linux" ? (text) => text : (text) => text.normalize("NFC").toLowerCase()

const isPlain = (entry: Dirent) => entry.isFile() || entry.isSymbolicLink()

interface Found {
  readonly strangers: ReadonlyArray<FolderEntry>
  /** Whatever is called `.git`, in a folder of the commit. */
  readonly gitNames: ReadonlyArray<string>
  readonly unreadable: ReadonlyArray<string>
}

/** Lists the folders of a commit, from the top; one that is a link is none of its. */
const searchCommitted = async (directory: Bytes, { files, folders }: Committed): Promise<Found> => {
  const strangers: Array<FolderEntry> = []
  const gitNames: Array<string> = []
  const unreadable: Array<string> = []
  const count = limitedTo(mostEntries)
  const countStranger = limitedTo(mostStrangers)
  const ownFiles = new Set([...files].map(folded))
  const ownFolders = new Set([...folders].map(folded))
  let level: ReadonlyArray<Bytes> = ["."]
  const search = async (folder: Bytes): Promise<ReadonlyArray<Bytes>> => {
    const inside: Array<Bytes> = []
    const entries = await entriesOf(directory, folder, count)
    if (entries === undefined) unreadable.push(asClearText(folder))
    for (const entry of entries ?? []) {
      const path = below(folder, entry.name)
      const text = asClearText(path)
      if (isGitName(asClearText(entry.name))) {
        if (path !== ".git") gitNames.push(text)
      } else if (entry.isDirectory() && ownFolders.has(folded(text))) inside.push(path)
      // What is there in the place of a file, or of a submodule, git itself looks at.
      else if (!isPlain(entry) && !ownFiles.has(folded(text))) {
        countStranger()
        strangers.push({ path, entry })
      }
    }
    return inside
  }
  while (level.length > 0) {
    const next: Array<Bytes> = []
    for (let at = 0; at < level.length; at += atOnce) {
      next.push(...(await Promise.all(level.slice(at, at + atOnce).map(search))).flat())
    }
    level = next
  }
  return { strangers, gitNames, unreadable }
}

/** Of more nobody is told what they are. */
const mostInside = 100_000

/**
 * What a folder that is in no commit, and of which git lists no file, holds: `nothing` but folders; `files` that rules hide; or
 * something `odd`, such as a named pipe. Whether one with a `.gitignore` of its own is believed, is looked at with that file.
 */
const contentOf = async (directory: Bytes, top: Bytes): Promise<"nothing" | "files" | "odd"> => {
  const count = limitedTo(mostInside)
  let content: "nothing" | "files" = "nothing"
  const search = async (folder: Bytes): Promise<boolean> => {
    const entries = await entriesOf(directory, folder, count)
    if (entries === undefined) return false
    if (folder === top && entries.some((entry) => entry.name === ".gitignore" && entry.isFile())) {
      content = "files"
      return true
    }
    for (const entry of entries) {
      if (isPlain(entry)) content = "files"
      else if (!entry.isDirectory() || !(await search(below(folder, entry.name)))) return false
    }
    return true
  }
  const isOrdinary = await search(top).catch((error) => (error instanceof TooMany ? false : Promise.reject(error)))
  return isOrdinary ? content : "odd"
}

const gitName =
  "has tools, and not git, take its folder for another repository, whose files they leave out: remove it, or move it out of the folders of the commit"
export const holdsNothing = "is a folder without files, which no commit can hold: remove it"
const holdsOdd =
  "is a folder with pipes, sockets or folders that cannot be listed, which no commit can hold: remove it, or name it in a .gitignore that you commit"
const cannotBeRead =
  "cannot be listed, so nobody knows what it holds: remove it, shorten its path, or change its permissions"

/** Of a path that is too long, the beginning tells where it is. */
const longestTold = 200

const tooMany: Unlisted = {
  path: "The working tree",
  why: `has more than ${mostStrangers} folders, pipes or sockets that no commit has: remove them`
}

/**
 * The folders that git could not open while it listed files, as it says in its warnings; it leaves them out and ends with success.
 * It cuts a long one. Pure.
 */
export const unopenedFolders = (stderr: string): ReadonlyArray<Unlisted> =>
  stderr.split("\n").flatMap((line): ReadonlyArray<Unlisted> => {
    const [, named] = /could not open directory '(.*)/s.exec(line) ?? []
    if (named === undefined) return []
    const path = named.replace(/\/?'(: [^']*)?$/, "").slice(0, longestTold)
    return [{ path, why: cannotBeRead, mayStay: true }]
  })

/** Those of some paths that a rule hides. */
const ignoredOf = Effect.fnUntraced(function* (directory: string, paths: ReadonlyArray<Bytes>, options: GitOptions) {
  if (paths.length === 0) return new Set<Bytes>()
  return new Set(fieldsOf(yield* ignoredPaths(directory, paths, [], options)).map(withoutBeginning))
})

/** The folders above some paths. */
const foldersAbove = (paths: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const path of paths) {
    // Of another repository git lists the folder.
    let folder = path.endsWith("/") ? path.slice(0, -1) : posix.dirname(path)
    while (folder !== "." && !found.has(folder)) {
      found.add(folder)
      folder = posix.dirname(folder)
    }
  }
  return found
}

/**
 * What lies unseen in the folders of a commit, without what rules hide. `untracked`: what git lists, as clear
 * texts, so that nothing is told twice. Not looked into: folders that rules hide, and submodules.
 */
export const unlistedEntries = Effect.fn("unlistedEntries")(function* (
  directory: string,
  commit: Committed,
  untracked: ReadonlyArray<string>,
  options: GitOptions
) {
  const bytes = asBytes(directory)
  const found = yield* onDisk(() =>
    searchCommitted(bytes, commit).catch((error) => (error instanceof TooMany ? undefined : Promise.reject(error)))
  )
  if (found === undefined) return [tooMany]
  const listed = foldersAbove(untracked)
  const strangers = found.strangers.filter(({ path }) => !listed.has(asClearText(path)))
  const ignored = yield* ignoredOf(
    directory,
    strangers.map(({ path }) => path),
    options
  )
  const unlisted: Array<Unlisted> = [
    ...found.gitNames.map((path) => ({ path, why: gitName })),
    ...found.unreadable.map((path) => ({ path, why: cannotBeRead, mayStay: true as const }))
  ]
  for (const { entry, path } of strangers) {
    const text = asClearText(path)
    if (ignored.has(path)) continue
    if (!entry.isDirectory()) {
      unlisted.push({ path: text, why: `${kindOf(entry)}, which no commit can hold: remove it`, mayStay: true })
      continue
    }
    const content = yield* onDisk(() => contentOf(bytes, path))
    if (content === "nothing") unlisted.push({ path: text, why: holdsNothing, mayStay: true, isEmpty: true })
    if (content === "odd") unlisted.push({ path: text, why: holdsOdd, mayStay: true })
  }
  return unlisted
})
