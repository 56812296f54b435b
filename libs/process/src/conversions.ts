/**
 * Files that git takes for what a commit holds although they are neither its content nor what a checkout makes of it: git reads
 * ends of lines, keywords and encodings away. A shell does other things with a line that ends otherwise.
 */
import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { hashOfBlob } from "./blobHash.ts"
import { readForeignFile } from "./foreignFile.ts"
import { insist } from "./ownIndex.ts"
import { fieldsOf, isUnclear } from "./pathBytes.ts"
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

/** The output of `git check-attr -z` for some paths, in their order. `count`: of the attributes that were asked about. */
export const readAttributes = (listed: string, count: number = attributes.length): ReadonlyArray<Attributes> => {
  const fields = listed.split("\0")
  const found: Array<Attributes> = []
  for (let at = 0; at + 3 * count <= fields.length; at += 3 * count) {
    const values = Array.from({ length: count }, (_, one) => [fields[at + 3 * one + 1] ?? "", fields[at + 3 * one + 2]])
    found.push(Object.fromEntries(values))
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

/** The records of `git config -z --get-regexp`: a key, and after a line break its value, if it has one. Pure. */
export const readConversions = (listed: string): Conversions => {
  const settings = fieldsOf(listed).map((record) => {
    const at = record.indexOf("\n")
    return at === -1 ? { key: record, value: "true" } : { key: record.slice(0, at), value: record.slice(at + 1) }
  })
  const automatic = settings.findLast(({ key }) => key === "core.autocrlf")?.value ?? "false"
  const filters = settings.flatMap(({ key }) => /^filter\.(.*)\.(clean|process)$/s.exec(key)?.[1] ?? [])
  return { isAutomatic: !["", "false"].includes(automatic), filters: new Set(filters) }
}

const conversionsOf = Effect.fnUntraced(function* (directory: string, options: GitOptions) {
  const wanted = "^(core\\.autocrlf|filter\\..*\\.(clean|process))$"
  const listed = yield* runGit(directory, ["config", "-z", "--get-regexp", wanted], options)
  return readConversions(listed.stdout)
})

/** A file of a commit with its name in bytes, which may be no UTF-8: then the path stands for several. */
interface NamedFile extends CommittedFile {
  readonly name: Buffer
}

/** What git names in the index of a commit, as bytes. */
const namesInIndex = Effect.fnUntraced(function* (directory: string, options: GitOptions) {
  const pieces: Array<Buffer> = []
  const take = (piece: Buffer) => void pieces.push(piece)
  yield* insist(directory, ["ls-files", "--stage", "-z"], { ...options, take })
  return Buffer.concat(pieces)
})

/** The files with their names in bytes; for those whose names are not UTF-8 the index is read. */
const withNames = Effect.fnUntraced(function* (
  directory: string,
  files: ReadonlyArray<CommittedFile>,
  options: GitOptions
) {
  const named = files
    .filter(({ path }) => !isUnclear(path))
    .map((file): NamedFile => ({ ...file, name: Buffer.from(file.path) }))
  const unclear = new Set(files.flatMap(({ path }) => (isUnclear(path) ? [path] : [])))
  if (unclear.size === 0) return named
  const listed = yield* namesInIndex(directory, options)
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf(0, at)
    const tab = listed.indexOf(0x09, at)
    const name = listed.subarray(tab + 1, end)
    const path = name.toString("utf8")
    const [, hash = ""] = listed.toString("latin1", at, tab).split(" ")
    if (unclear.has(path)) named.push({ path, hash, name })
    at = end + 1
  }
  return named
})

const nul = Buffer.from([0])
const asList = (files: ReadonlyArray<NamedFile>) => Buffer.concat(files.flatMap(({ name }) => [name, nul]))

/** Paths that cannot be asked about in lines. */
const isOdd = (path: string) => path.includes("\n") || isUnclear(path)

/** Larger ones with odd names count as other content. */
const largestBytes = 100 * 1024 * 1024

/** The hashes of the content of some files as it lies below a folder (`top`); undefined: it cannot be read. */
const hashesOf = Effect.fnUntraced(function* (
  directory: string,
  top: string,
  files: ReadonlyArray<NamedFile>,
  options: GitOptions
) {
  const found = new Map<NamedFile, string | undefined>()
  const plain = files.filter(({ path }) => !isOdd(path))
  if (plain.length > 0) {
    const output = yield* insist(directory, ["hash-object", "--no-filters", "--stdin-paths"], {
      ...options,
      // A line that begins with a quote git takes for another path, which is quoted.
      input: plain.map(({ path }) => `${top}/${path}\n`).join("")
    })
    const hashes = output.split("\n")
    for (const [at, file] of plain.entries()) found.set(file, hashes[at])
  }
  const folder = Buffer.from(`${resolve(directory, top)}/`)
  yield* Effect.forEach(
    files.filter(({ path }) => isOdd(path)),
    (file) =>
      Effect.promise(async () => {
        const place = Buffer.concat([folder, file.name])
        const content = await readForeignFile(place, { largestBytes, follow: false }).catch(() => undefined)
        found.set(file, content && hashOfBlob(content, file.hash))
      }),
    { concurrency: 4, discard: true }
  )
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
  const named = yield* withNames(directory, files, options)
  const listed = yield* insist(directory, ["check-attr", "-z", "--stdin", ...attributes], {
    ...options,
    input: asList(named)
  })
  const known = readAttributes(listed)
  const converted = named.filter((_, at) => isConverted(known[at] ?? {}, configured))
  if (converted.length === 0) return []
  const here = yield* hashesOf(directory, ".", converted, options)
  const others = converted.filter((file) => here.get(file) !== file.hash)
  if (others.length === 0) return []
  const checkout = join(folder, `${randomUUID()}.draft`)
  return yield* Effect.gen(function* () {
    yield* insist(directory, ["checkout-index", "-z", "--stdin", `--prefix=${checkout}/`], {
      ...options,
      input: asList(others)
    })
    const there = yield* hashesOf(directory, checkout, others, options)
    const isOtherwise = (file: NamedFile) => here.get(file) === undefined || there.get(file) !== here.get(file)
    return [...new Set(others.filter(isOtherwise).map(({ path }) => path))]
  }).pipe(Effect.ensuring(Effect.promise(() => rm(checkout, { recursive: true, force: true }))))
})
