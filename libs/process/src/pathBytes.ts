/** Names of files as they are on the disk: not all are UTF-8, and those that are none all look alike when they are read as such. Pure. */

/** Each character is a byte. */
export type Bytes = string

const isAscii = (bytes: Bytes) => !/[\x80-\xff]/.test(bytes)

export const asBytes = (text: string): Bytes => Buffer.from(text).toString("latin1")

/** For calls that take a path; no two names have the same. */
export const asBuffer = (bytes: Bytes): Buffer => Buffer.from(bytes, "latin1")

const replacement = "\uFFFD"

/** A name as git's output is read; it stands for several where it is not UTF-8. */
export const isUnclear = (path: string) => path.includes(replacement)

/** As any output of git is read. */
export const asText = (bytes: Bytes): string => (isAscii(bytes) ? bytes : asBuffer(bytes).toString("utf8"))

/** The same, but no two names have the same text: of one that is not UTF-8, bytes are told as U+FFFD and two hexadecimal digits. */
export const asClearText = (bytes: Bytes): string => {
  const text = asText(bytes)
  if (!isUnclear(text)) return text
  return bytes.replace(/[\x80-\xff]/g, (byte) => `${replacement}${byte.charCodeAt(0).toString(16)}`)
}

/** The fields of a list that git writes with `-z`. */
export const fieldsOf = (list: string): ReadonlyArray<string> => list.split("\0").filter((field) => field !== "")

/** Every folder of some entries, the top among them, as beginnings of paths. */
export const foldersOf = (paths: Iterable<Bytes>): ReadonlySet<Bytes> => {
  const folders = new Set<Bytes>([""])
  for (const path of paths) {
    let end = path.lastIndexOf("/")
    while (end !== -1 && !folders.has(path.slice(0, end + 1))) {
      folders.add(path.slice(0, end + 1))
      end = path.lastIndexOf("/", end - 1)
    }
  }
  return folders
}
