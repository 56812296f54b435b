/**
 * Files that git takes for what a commit holds although they are neither its content nor what a checkout makes of it: git reads
 * ends of lines, keywords and encodings away. A shell does other things with a line that ends otherwise.
 */
import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { ReadOtherwise } from "./compareFiles.ts"
import { bytesOfPath, contentHashes } from "./contentHashes.ts"
import { insist } from "./ownIndex.ts"
import { asBuffer, fieldsOf } from "./pathBytes.ts"
import { type GitOptions, runGit } from "./runGit.ts"

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

const asList = (files: ReadonlyArray<ReadOtherwise>) => asBuffer(files.map((file) => `${bytesOfPath(file)}\0`).join(""))

/**
 * Those of some files, which git takes for unchanged, that a checkout would write otherwise. `folder`: of Reprise's own, for such a
 * checkout. `options`: with an index of the commit.
 */
export const convertedOtherwise = Effect.fn("convertedOtherwise")(function* (
  directory: string,
  files: ReadonlyArray<ReadOtherwise>,
  folder: string,
  options: GitOptions
) {
  if (files.length === 0) return []
  const configured = yield* conversionsOf(directory, options)
  const input = asList(files)
  const listed = yield* insist(directory, ["check-attr", "-z", "--stdin", ...attributes], { ...options, input })
  const known = readAttributes(listed)
  const converted = files.filter((_, at) => isConverted(known[at] ?? {}, configured))
  if (converted.length === 0) return []
  const checkout = join(folder, `${randomUUID()}.draft`)
  return yield* Effect.gen(function* () {
    yield* insist(directory, ["checkout-index", "-z", "--stdin", `--prefix=${checkout}/`], {
      ...options,
      input: asList(converted)
    })
    const there = yield* contentHashes(directory, checkout, converted, options)
    return [...new Set(converted.filter((file) => there.get(file) !== file.content).map(({ path }) => path))]
  }).pipe(Effect.ensuring(Effect.promise(() => rm(checkout, { recursive: true, force: true }))))
})
