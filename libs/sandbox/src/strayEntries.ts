/**
 * Links, pipes and devices in git's folders. A git that runs outside writes through a link (at `COMMIT_EDITMSG`, or into the log
 * of a branch whose name an agent chose), and waits for a pipe without end; a socket it only cannot open. Links that were there
 * before commands could write are the user's: tools that share a repository make them.
 */
import { createHash } from "node:crypto"
import { lstat, readlink } from "node:fs/promises"
import { join } from "node:path"
import { createPrivateFile, hasCode, readForeignFolder, readPrivateFile } from "@reprise/process"
import { Schema } from "effect"
import type { GitRepository } from "./askGit.ts"
import type { Link } from "./policy.ts"
import { putAside } from "./putAside.ts"

interface Entries {
  readonly links: ReadonlyArray<Link>
  /** Pipes and devices. */
  readonly others: ReadonlyArray<string>
}

const none: Entries = { links: [], others: [] }

const together = (all: ReadonlyArray<Entries>): Entries => ({
  links: all.flatMap(({ links }) => links),
  others: all.flatMap(({ others }) => others)
})

/** git's own way to write `HEAD`, long ago. */
const isBranch = (target: string) => /^refs\/(?!.*\.\.)/.test(target)

/** git writes nothing among the hooks, and reads what it finds there by running it; commands cannot write there. */
const isHooks = (name: string, kind: Kind) => kind === "repository" && name === "hooks"

/** What a folder is: a repository's directory, one with such directories in it, or any other. */
type Kind = "repository" | "modules" | "worktrees" | "worktree" | "other"

const kindBelow = (kind: Kind, name: string, entries: ReadonlyArray<{ readonly name: string }>): Kind => {
  switch (kind) {
    case "repository":
      return name === "modules" || name === "worktrees" ? name : "other"
    case "worktree":
      return name === "modules" ? name : "other"
    case "worktrees":
      return "worktree"
    // A submodule's name may have folders in it.
    case "modules":
      return entries.some((entry) => entry.name === "HEAD" || entry.name === "config") ? "repository" : "modules"
    case "other":
      return "other"
  }
}

/** More are nobody's repository. */
const mostEntries = 1_000_000

const read = async (folder: string) =>
  (await readForeignFolder(folder, { mostEntries }).catch((error) =>
    hasCode(error, "ENOTDIR") ? undefined : Promise.reject(error)
  )) ?? []

const entriesIn = async (
  folder: string,
  kindOf: (entries: ReadonlyArray<{ readonly name: string }>) => Kind
): Promise<Entries> => {
  const entries = await read(folder)
  const kind = kindOf(entries)
  const found: Array<Entries> = []
  for (const entry of entries) {
    const { name } = entry
    const path = join(folder, name)
    if (entry.isSymbolicLink()) {
      const target = await readlink(path).catch((error) =>
        hasCode(error, "ENOENT") ? undefined : Promise.reject(error)
      )
      if (target === undefined) continue
      const isHead = name === "HEAD" && (kind === "repository" || kind === "worktree") && isBranch(target)
      if (!isHead) found.push({ links: [{ path, target }], others: [] })
    } else if (entry.isDirectory()) {
      if (!isHooks(name, kind)) found.push(await entriesIn(path, (below) => kindBelow(kind, name, below)))
    } else if (!entry.isFile() && !entry.isSocket()) found.push({ links: [], others: [path] })
  }
  return found.length === 0 ? none : together(found)
}

const entriesOf = async ({ common, directory }: GitRepository): Promise<Entries> => {
  const own = await entriesIn(common, () => "repository")
  return directory === common ? own : together([own, await entriesIn(directory, () => "worktree")])
}
const Record = Schema.fromJsonString(
  Schema.Struct({ links: Schema.Array(Schema.Struct({ path: Schema.String, target: Schema.String })) })
)
const decodeRecord = Schema.decodeUnknownSync(Record)
const encodeRecord = Schema.encodeSync(Record)

/** Of one repository with more links than this somebody makes fun. */
const largestRecord = 4 * 1024 * 1024

const recordOf = ({ common }: GitRepository, sandboxFolder: string) =>
  join(sandboxFolder, "links", `${createHash("sha256").update(common).digest("hex").slice(0, 16)}.json`)

/**
 * The links of a repository that were there when a sandbox of this folder first saw it, which is before its commands could
 * write there. Of several processes that see it first, one writes the record, and all believe it. `sandboxFolder`:
 * `.reprise/sandbox`.
 */
export const firstLinks = async (repository: GitRepository, sandboxFolder: string): Promise<ReadonlyArray<Link>> => {
  const path = recordOf(repository, sandboxFolder)
  const known = async () => {
    const text = await readPrivateFile(path, largestRecord)
    return text === undefined ? undefined : decodeRecord(text).links
  }
  const before = await known()
  if (before !== undefined) return before
  const { links } = await entriesOf(repository)
  await createPrivateFile(path, encodeRecord({ links }))
  return (await known()) ?? links
}

/** Puts aside links that were not there first, pipes and devices. Gives the paths. */
export const putAsideStray = async (
  repository: GitRepository,
  sandboxFolder: string
): Promise<ReadonlyArray<string>> => {
  const first = new Map((await firstLinks(repository, sandboxFolder)).map(({ path, target }) => [path, target]))
  const { links, others } = await entriesOf(repository)
  const stray = [...others, ...links.filter(({ path, target }) => first.get(path) !== target).map(({ path }) => path)]
  for (const path of stray) await putAside(path, join(sandboxFolder, "refused"))
  return stray
}

/** Puts it aside if git, which opens it whatever it is asked, would wait for it. `head`: `HEAD` of a git directory. */
export const putAsideHead = async (head: string, sandboxFolder: string): Promise<ReadonlyArray<string>> => {
  const found = await lstat(head).catch(() => undefined)
  if (found === undefined || found.isFile() || found.isDirectory()) return []
  if (found.isSymbolicLink() && isBranch(await readlink(head))) return []
  await putAside(head, join(sandboxFolder, "refused"))
  return [head]
}
