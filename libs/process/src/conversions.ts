/**
 * Files that git takes for what a commit holds although they are neither its content nor what a checkout makes of it: git reads
 * ends of lines, keywords and encodings away. A shell does other things with a line that ends otherwise.
 */
import { randomUUID } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { join, posix, resolve } from "node:path"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import { readForeignFile } from "./foreignFile.ts"
import { fieldsOf, insist, isUnclear } from "./ownIndex.ts"
import { type GitOptions, runGit } from "./runGit.ts"

/** A plain file of a commit. */
export interface CommittedFile {
  readonly path: string
  readonly hash: string
}

const attributes = ["text", "crlf", "eol", "ident", "working-tree-encoding", "filter"] as const
type Attributes = Readonly<Partial<Record<string, string>>>

const isSet = (value: string | undefined): boolean =>
  value !== undefined && value !== "unspecified" && value !== "unset"

/** The output of `git check-attr -z`, by path. */
export const readAttributes = (listed: string): ReadonlyMap<string, Attributes> => {
  const found = new Map<string, Record<string, string>>()
  const fields = listed.split("\0")
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = "", name = "", value = ""] = fields.slice(at, at + 3)
    found.set(path, { ...found.get(path), [name]: value })
  }
  return found
}

/** What the user has configured. */
export interface Conversions {
  /** Whether git looks for ends of lines in files without attributes. */
  readonly isAutomatic: boolean
  /** Names of filters that do something: what one takes out of a file is the user's to decide. */
  readonly filters: ReadonlySet<string>
}

/** Whether git itself may take a file for another content. */
export const isConverted = (found: Attributes, { filters, isAutomatic }: Conversions): boolean => {
  if (filters.has(found["filter"] ?? "")) return false
  const names = ["text", "crlf", "eol", "ident", "working-tree-encoding"]
  return names.some((name) => isSet(found[name])) || (isAutomatic && found["text"] !== "unset")
}

const conversionsOf = Effect.fnUntraced(function* (directory: string, options: GitOptions) {
  const automatic = yield* runGit(directory, ["config", "--get", "core.autocrlf"], options)
  const named = yield* runGit(
    directory,
    ["config", "-z", "--name-only", "--get-regexp", "^filter\\..*\\.(clean|process)$"],
    options
  )
  const filters = fieldsOf(named.stdout).map((key) => key.replace(/^filter\.|\.(clean|process)$/g, ""))
  return {
    isAutomatic: !["", "false"].includes(automatic.stdout.trim()),
    filters: new Set(filters)
  } satisfies Conversions
})

/** Paths that cannot be asked about in lines. */
const isOdd = (path: string) => path.includes("\n") || isUnclear(path)

/** Larger ones with odd names count as other content. */
const largestBytes = 100 * 1024 * 1024

/** The hashes of the files with an odd name: of one that is no UTF-8 there may be several. */
const hashesOfOdd = async (directory: string, path: string, like: string): Promise<ReadonlyArray<string>> => {
  const folder = join(directory, posix.dirname(path))
  const names = await readdir(folder, { encoding: "buffer" }).catch(() => [])
  const alike = names.filter((name) => name.toString("utf8") === posix.basename(path))
  const found: Array<string> = []
  for (const name of alike) {
    const place = Buffer.concat([Buffer.from(`${folder}/`), name])
    const content = await readForeignFile(place, { largestBytes, follow: false }).catch(() => undefined)
    found.push(content === undefined ? "" : hashOfBlob(content, like))
  }
  return found
}

/** The hashes of the content of some files as it lies below a folder (`top`), by path. */
const hashesOf = Effect.fnUntraced(function* (
  directory: string,
  top: string,
  files: ReadonlyArray<CommittedFile>,
  options: GitOptions
) {
  const plain = files.filter(({ path }) => !isOdd(path))
  const found = new Map<string, ReadonlyArray<string>>()
  if (plain.length > 0) {
    const output = yield* insist(directory, ["hash-object", "--no-filters", "--stdin-paths"], {
      ...options,
      // A line that begins with a quote git takes for another path, which is quoted.
      input: plain.map(({ path }) => `${top}/${path}\n`).join("")
    })
    const hashes = output.split("\n")
    for (const [at, { path }] of plain.entries()) found.set(path, [hashes[at] ?? ""])
  }
  for (const { hash, path } of files.filter((file) => isOdd(file.path) && !found.has(file.path))) {
    found.set(path, yield* Effect.promise(() => hashesOfOdd(resolve(directory, top), path, hash)))
  }
  return found
})

/**
 * Those of some files, which git takes for unchanged, that a checkout would write otherwise. `folder`: of Reprise's own, for such a
 * checkout. `options`: with an index of the commit.
 */
export const convertedOtherwise = Effect.fn("convertedOtherwise")(function* (
  directory: string,
  files: ReadonlyArray<CommittedFile>,
  folder: string,
  options: GitOptions
) {
  if (files.length === 0) return []
  const configured = yield* conversionsOf(directory, options)
  const listed = yield* insist(directory, ["check-attr", "-z", "--stdin", ...attributes], {
    ...options,
    input: files.map(({ path }) => `${path}\0`).join("")
  })
  const known = readAttributes(listed)
  const converted = files.filter(({ path }) => {
    const found = known.get(path) ?? {}
    // What the attributes say of a name that is not this one says nothing; but a filter is the user's.
    return isUnclear(path) ? !configured.filters.has(found["filter"] ?? "") : isConverted(found, configured)
  })
  if (converted.length === 0) return []
  const here = yield* hashesOf(directory, ".", converted, options)
  /** Of several files with one name, as git writes it, each may be any of them. */
  const committed = Map.groupBy(converted, ({ path }) => path)
  const isOneOf = (hash: string, path: string) => committed.get(path)?.some((file) => file.hash === hash) === true
  const others = [...committed.keys()].filter((path) => here.get(path)?.every((hash) => isOneOf(hash, path)) !== true)
  if (others.length === 0) return []
  const checkout = join(folder, `${randomUUID()}.draft`)
  return yield* Effect.gen(function* () {
    const which = others.some(isUnclear) ? ["--all"] : ["-z", "--stdin"]
    yield* insist(directory, ["checkout-index", ...which, `--prefix=${checkout}/`], {
      ...options,
      input: others.map((path) => `${path}\0`).join("")
    })
    const asked = others.flatMap((path) => committed.get(path) ?? [])
    const there = yield* hashesOf(directory, checkout, asked, options)
    return others.filter(
      (path) =>
        here.get(path)?.every((hash) => isOneOf(hash, path) || there.get(path)?.includes(hash) === true) !== true
    )
  }).pipe(Effect.ensuring(Effect.promise(() => rm(checkout, { recursive: true, force: true }))))
})
