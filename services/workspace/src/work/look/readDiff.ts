/**
 * What `git diff --raw --numstat -z --patch` writes, file by file. Names, kinds and counts are those of git's lists, whose fields end
 * with NUL, which no name has; the text of a file is only shown. Pure.
 */
import type { ConsoleChangedFile } from "@reprise/protocol"

/** A file with its part of the patch; `isWhole`: git was not ended before it had written all of it. */
export interface FileDiff extends Pick<ConsoleChangedFile, "added" | "from" | "kinds" | "path" | "removed" | "text"> {
  readonly isWhole: boolean
}

interface Listed {
  /** The letter that git gives for what was done with the file. */
  readonly status: string
  readonly modes: readonly [before: string, after: string]
  /** Its name before; the same if it was not renamed. */
  readonly from: string
  readonly path: string
}

interface Counts {
  readonly added: number
  readonly removed: number
  readonly isBinary: boolean
}

const statusKinds: Readonly<Record<string, ConsoleChangedFile["kinds"][number]>> = {
  A: "new",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type changed"
}

const kindsOf = ({ modes: [before, after], status }: Listed, isBinary: boolean): ConsoleChangedFile["kinds"] => {
  const kind = statusKinds[status]
  const hasOtherMode = before !== after && (status === "M" || status === "R" || status === "C")
  return [
    ...(kind === undefined ? [] : [kind]),
    ...(hasOtherMode ? ["mode changed" as const] : []),
    ...(isBinary ? ["binary" as const] : [])
  ]
}

const letters: Readonly<Record<string, string>> = {
  "\u0007": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  '"': '"',
  "\\": "\\"
}

/** As git writes a name into a patch with `core.quotePath=false`. */
const quoted = (name: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what git quotes
  const escaped = name.replace(/[\u0000-\u001f\u007f"\\]/g, (char) => {
    const letter = letters[char]
    return `\\${letter ?? char.charCodeAt(0).toString(8).padStart(3, "0")}`
  })
  return escaped === name ? name : `"${escaped}"`
}

const firstLine = ({ from, path }: Listed): string => `diff --git ${quoted(`a/${from}`)} ${quoted(`b/${path}`)}\n`

/** The fields of a list, one after the other; undefined: the list ends within a field. */
const fieldsFrom = (text: string) => {
  let at = 0
  return {
    next: (): string | undefined => {
      const end = text.indexOf("\0", at)
      const field = end < 0 ? undefined : text.slice(at, end)
      at = end < 0 ? text.length : end + 1
      return field
    },
    begins: (sign: string): boolean => text.startsWith(sign, at),
    isOver: (): boolean => at >= text.length,
    rest: (): string => text.slice(at)
  }
}

type Fields = ReturnType<typeof fieldsFrom>

/** `:100644 100755 1234567 0000000 M`, then a name; two names of a file that was renamed. */
const readListed = (fields: Fields): Listed | undefined => {
  const [before = "", after = "", , , status = ""] = (fields.next() ?? "").slice(1).split(" ")
  const from = fields.next()
  const letter = status.slice(0, 1)
  const path = letter === "R" || letter === "C" ? fields.next() : from
  return from === undefined || path === undefined ? undefined : { status: letter, modes: [before, after], from, path }
}

/** Two numbers and a name, with tabs between; the names of a file that was renamed are fields of their own. */
const readCounts = (fields: Fields): readonly [path: string, counts: Counts] | undefined => {
  const [added = "", removed = "", ...name] = (fields.next() ?? "").split("\t")
  const inField = name.join("\t")
  if (inField === "") fields.next()
  const path = inField === "" ? fields.next() : inField
  const isBinary = added === "-"
  return path === undefined ? undefined : [path, { added: Number(added) || 0, removed: Number(removed) || 0, isBinary }]
}

/** Git ends each line with a line feed, and begins each line of a file's content with a sign. */
const partsOf = (patch: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let at = 0
  while (at < patch.length) {
    const next = patch.indexOf("\ndiff --git ", at)
    const end = next < 0 ? patch.length : next + 1
    parts.push(patch.slice(at, end))
    at = end
  }
  return parts
}

const withParts = (
  listed: ReadonlyArray<Listed>,
  counts: ReadonlyMap<string, Counts>,
  patch: string,
  isCut: boolean
): ReadonlyArray<FileDiff> => {
  const parts = partsOf(patch)
  let next = 0
  return listed.map((one) => {
    const { added = 0, isBinary = false, removed = 0 } = counts.get(one.path) ?? {}
    const begin = firstLine(one)
    // Of a file that became a link, or the other way round, git writes that one is gone and that another is new.
    const last = next + (one.status === "T" ? 2 : 1)
    let text = ""
    for (; next < last && parts[next]?.startsWith(begin) === true; next += 1) text += parts[next] ?? ""
    return {
      path: one.path,
      ...(one.from === one.path ? {} : { from: one.from }),
      kinds: kindsOf(one, isBinary),
      added,
      removed,
      text,
      isWhole: !isCut || next < parts.length
    }
  })
}

/**
 * The files in git's order. `isCut`: git was ended before it had written everything; of a file without a part nobody knows then
 * whether it would have one. Undefined: it was ended before all files were listed.
 */
export const readDiff = (output: string, isCut: boolean): ReadonlyArray<FileDiff> | undefined => {
  const fields = fieldsFrom(output)
  const listed: Array<Listed> = []
  while (fields.begins(":")) {
    const one = readListed(fields)
    if (one === undefined) return undefined
    listed.push(one)
  }
  const counts = new Map<string, Counts>()
  while (!fields.isOver() && !fields.begins("\0")) {
    const one = readCounts(fields)
    if (one === undefined) return undefined
    counts.set(...one)
  }
  if (isCut && fields.isOver()) return undefined
  fields.next()
  return withParts(listed, counts, fields.rest(), isCut)
}
