/**
 * Files that git takes for what a commit holds although they are neither its content nor what a checkout makes of it: git reads
 * ends of lines, keywords and encodings away. A shell does other things with a line that ends otherwise.
 */
import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { fieldsOf, insist } from "./ownIndex.ts"
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

const hashesOf = (directory: string, paths: ReadonlyArray<string>, options: GitOptions) =>
  Effect.map(
    insist(directory, ["hash-object", "--no-filters", "--stdin-paths"], {
      ...options,
      input: paths.map((path) => `${path}\n`).join("")
    }),
    (output) => output.split("\n")
  )

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
  // A path with a line break cannot be asked about.
  const asked = files.filter(({ path }) => !path.includes("\n"))
  if (asked.length === 0) return []
  const configured = yield* conversionsOf(directory, options)
  const listed = yield* insist(directory, ["check-attr", "-z", "--stdin", ...attributes], {
    ...options,
    input: asked.map(({ path }) => `${path}\0`).join("")
  })
  const known = readAttributes(listed)
  const converted = asked.filter(({ path }) => isConverted(known.get(path) ?? {}, configured))
  if (converted.length === 0) return []
  const paths = converted.map(({ path }) => path)
  const here = yield* hashesOf(directory, paths, options)
  const others = converted.flatMap(({ hash, path }, at) => (here[at] === hash ? [] : [{ path, hash: here[at] }]))
  if (others.length === 0) return []
  const checkout = join(folder, `${randomUUID()}.draft`)
  return yield* Effect.gen(function* () {
    yield* insist(directory, ["checkout-index", "-z", "--stdin", `--prefix=${checkout}/`], {
      ...options,
      input: others.map(({ path }) => `${path}\0`).join("")
    })
    const there = yield* hashesOf(
      directory,
      others.map(({ path }) => join(checkout, path)),
      options
    )
    return others.filter(({ hash }, at) => hash !== there[at]).map(({ path }) => path)
  }).pipe(Effect.ensuring(Effect.promise(() => rm(checkout, { recursive: true, force: true }))))
})
