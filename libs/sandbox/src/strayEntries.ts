/**
 * Links, pipes, devices and stray refs in git's folders. A git that runs outside writes through a link (at `COMMIT_EDITMSG`, or into the log
 * of a branch whose name an agent chose), and waits for a pipe without end; a socket it only cannot open. Links that were there
 * before commands could write are the user's: tools that share a repository make them.
 */
import { createHash } from "node:crypto"
import { lstat, readlink } from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import { createPrivateFile, hasCode, readPrivateFile, sharedBy } from "@reprise/process"
import { Effect, Schema } from "effect"
import type { Environment, GitRepository } from "./askGit.ts"
import { findPaths, textOfPath } from "./findPaths.ts"
import { exists } from "./found.ts"
import { gitDirectoriesOf, UnclearGitDirectory } from "./gitDirectories.ts"
import type { Link } from "./policy.ts"
import { putAside } from "./putAside.ts"
import { isStrayRef, symbolicIn } from "./symbolicRefs.ts"
import { mostIn } from "./treeSearch.ts"

interface Entries {
  readonly links: ReadonlyArray<Link>
  /** Pipes, devices, and symbolic refs that lead out of `refs`. */
  readonly others: ReadonlyArray<string>
  /** Any of these whose path is no text. */
  readonly unnamed: ReadonlyArray<Buffer>
}

/** git's own way to write `HEAD`, long ago. */
const isBranch = (target: string) => /^refs\/(?!.*\.\.)/.test(target)

/** What a folder is: a repository's directory, one with such directories in it, or any other. */
type Kind = "repository" | "modules" | "worktrees" | "worktree" | "hooks" | "other"

const kindBelow = (kind: Kind, name: string, path: string): Kind => {
  switch (kind) {
    case "repository":
      return name === "modules" || name === "worktrees" || name === "hooks" ? name : "other"
    case "worktree":
      return name === "modules" ? name : "other"
    case "worktrees":
      return "worktree"
    // A submodule's name may have folders in it.
    case "modules":
      return exists(join(path, "HEAD")) || exists(join(path, "config")) ? "repository" : "modules"
    case "hooks":
    case "other":
      return kind
  }
}

/** What a folder is, and in which git directory. */
const placeOfFolder = (folder: string, { common, directory }: GitRepository) => {
  const isBelow = folder === common || folder.startsWith(join(common, "/"))
  let [path, kind]: [string, Kind] = isBelow ? [common, "repository"] : [directory, "worktree"]
  let around = path
  for (const name of relative(path, folder).split(sep)) {
    if (name === "") continue
    path = join(path, name)
    kind = kindBelow(kind, name, path)
    if (kind === "repository" || kind === "worktree") around = path
  }
  return { kind, around }
}

/** All that is neither a file nor a folder nor a socket, and symbolic refs. What could not be listed could be entered all the same. */
const unusual = (folders: ReadonlyArray<string>) => [
  ...["-type", "d", "!", "-perm", "-500", "-exec", "chmod", "u+rwx", "{}", ";", "!", "-name", "*"],
  ...["-o", "!", "-type", "f", "!", "-type", "d", "!", "-type", "s", "-print0"],
  ...["-o", ...symbolicIn(folders)]
]

const mostBytes = 64 * 1024 * 1024
/** Each takes a thousandth of a second to look at, and a few to move away. Nobody has more. */
const mostEntries = 5_000

/** There are so many that looking at them, and moving them away, would take too long. */
export class TooManyStrayEntries extends Schema.TaggedError<TooManyStrayEntries>()("TooManyStrayEntries", {
  most: Schema.Finite,
  /** The folder of git's directory that has most of them. */
  folder: Schema.String
}) {
  override get message() {
    return (
      `git's directory has more than ${this.most} links, pipes, devices and symbolic refs, most of them in ${this.folder}. ` +
      "A git outside of the sandbox would write through them or wait for them, so nothing goes on here. Remove what does not belong there."
    )
  }
}

const unusualIn = async (folders: ReadonlyArray<string>, environment: Environment, most: number) => {
  const found = findPaths([...folders, ...unusual(folders)], { mostBytes, search: environment["PATH"] ?? "" })
  const { isCut, paths, unseen } = await Effect.runPromise(found)
  if (isCut || paths.length > most) {
    throw new TooManyStrayEntries({ most, folder: mostIn(folders[0] ?? "", paths.map(String)) })
  }
  if (unseen !== undefined) throw new Error(`git's folders cannot be listed: ${unseen}`)
  return paths
}

const entriesOf = async (repository: GitRepository, environment: Environment, most = mostEntries): Promise<Entries> => {
  const { common, directory } = repository
  const folders = directory.startsWith(join(common, "/")) ? [common] : [...new Set([common, directory])]
  const links: Array<Link> = []
  const others: Array<string> = []
  const unnamed: Array<Buffer> = []
  for (const bytes of await unusualIn(folders, environment, most)) {
    const path = textOfPath(bytes)
    const { around, kind } = placeOfFolder(dirname(path ?? bytes.toString("utf8")), repository)
    // git writes nothing among the hooks, and reads what it finds there by running it; commands cannot write there.
    if (kind === "hooks") continue
    if (path === undefined) {
      unnamed.push(bytes)
      continue
    }
    const found = await lstat(path).catch((error) => (hasCode(error, "ENOENT") ? undefined : Promise.reject(error)))
    if (found === undefined) continue
    if (!found.isSymbolicLink()) {
      if (!found.isFile() || (await isStrayRef(path, around))) others.push(path)
      continue
    }
    const target = await readlink(path)
    const isHead = basename(path) === "HEAD" && (kind === "repository" || kind === "worktree") && isBranch(target)
    if (!isHead) links.push({ path, target })
  }
  return { links, others, unnamed }
}

interface Place {
  /** `.reprise/sandbox`. */
  readonly sandboxFolder: string
  /** For `find`. */
  readonly environment: Environment
}

const Record = Schema.fromJsonString(
  Schema.Struct({ links: Schema.Array(Schema.Struct({ path: Schema.String, target: Schema.String })) })
)
const decodeRecord = Schema.decodeUnknownSync(Record)
const encodeRecord = Schema.encodeSync(Record)

/** No repository has so many links. */
const largestRecord = 4 * 1024 * 1024

const recordOf = ({ common }: GitRepository, sandboxFolder: string) =>
  join(sandboxFolder, "links", `${createHash("sha256").update(common).digest("hex").slice(0, 16)}.json`)

const knownLinks = async (repository: GitRepository, { sandboxFolder }: Place) => {
  const text = await readPrivateFile(recordOf(repository, sandboxFolder), largestRecord)
  return text === undefined ? undefined : decodeRecord(text).links
}

/**
 * The links of a repository that were there when a sandbox of this folder first saw it, which is before its commands could
 * write there. Of several processes that see it first, one writes the record, and all believe it.
 */
export const firstLinks = async (repository: GitRepository, place: Place): Promise<ReadonlyArray<Link>> => {
  const before = await knownLinks(repository, place)
  if (before !== undefined) return before
  const { links } = await entriesOf(repository, place.environment)
  await createPrivateFile(recordOf(repository, place.sandboxFolder), encodeRecord({ links }))
  return (await knownLinks(repository, place)) ?? links
}

/** Each look lists all of them. */
const mostLooks = 20

/** Where nobody has worked yet, such a folder is the user's, who is told of it. */
const putAsideUnclear = async (repository: GitRepository, place: Place): Promise<ReadonlyArray<string | Buffer>> => {
  if ((await knownLinks(repository, place)) === undefined) return []
  const moved: Array<string | Buffer> = []
  for (let looks = 0; looks < mostLooks; looks++) {
    const unclear = await gitDirectoriesOf(repository).then(
      () => [],
      (error) => (error instanceof UnclearGitDirectory ? error.paths : [])
    )
    if (unclear.length === 0) break
    for (const one of unclear) {
      const path = typeof one === "string" ? one : Buffer.from(one)
      await putAside(path, join(place.sandboxFolder, "refused"))
      moved.push(path)
    }
  }
  return moved
}

/**
 * Puts aside links that were not there first, pipes, devices, symbolic refs that lead out of `refs`, and folders that may be a git directory and cannot be named. Gives the paths. Rejected with `TooManyStrayEntries` where there
 * are more than `most`.
 */
export const putAsideStray = async (
  repository: GitRepository,
  place: Place,
  most?: number
): Promise<ReadonlyArray<string>> => {
  const unclear = await putAsideUnclear(repository, place)
  const first = new Map((await firstLinks(repository, place)).map(({ path, target }) => [path, target]))
  const { links, others, unnamed } = await entriesOf(repository, place.environment, most)
  const made = links.filter(({ path, target }) => first.get(path) !== target).map(({ path }) => path)
  const stray = [...others, ...made, ...unnamed]
  const refused = join(place.sandboxFolder, "refused")
  for (const path of stray) await putAside(path, refused)
  return [...unclear, ...stray].map(String)
}

/**
 * Puts aside a file that leads git from the directory of a repository to another one: a git that wrote through a symbolic ref may
 * have made it. `head`: `HEAD` of a git directory.
 */
export const putAsideCommon = async (head: string, sandboxFolder: string): Promise<ReadonlyArray<string>> => {
  const path = join(sharedBy(dirname(head)), "commondir")
  if (!exists(path)) return []
  await putAside(path, join(sandboxFolder, "refused"))
  return [path]
}

/** Puts it aside if git, which opens it whatever it is asked, would wait for it. `head`: `HEAD` of a git directory. */
export const putAsideHead = async (head: string, sandboxFolder: string): Promise<ReadonlyArray<string>> => {
  const found = await lstat(head).catch(() => undefined)
  if (found === undefined || found.isFile() || found.isDirectory()) return []
  if (found.isSymbolicLink() && isBranch(await readlink(head))) return []
  await putAside(head, join(sandboxFolder, "refused"))
  return [head]
}
