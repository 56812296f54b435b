/**
 * Files by which version managers choose a program when a folder is entered: mise takes `path:FOLDER` for a version, fnm a path for
 * an alias, and both put that folder first on the `PATH` of the user's shell. A file that only names versions is no matter. Reads only.
 */
import { basename, normalize } from "node:path"
import { kindOf, readForeignText } from "@reprise/process"
import { entryAt, targetOf } from "../disk/pathsOnDisk.ts"

/** `.tool-versions` bears commands as a whole (`policy/commandFiles.ts`). File systems may take any case of letters for the same name. */
const namePattern = /^\.(?:[nyd]vmrc|sdkmanrc|(?!tool-)[\w+-]+-versions?)$/i

/** For `find`: somewhat more than the pattern. */
export const versionSearch = [
  ...["(", "-iname", ".?vmrc", "-o", "-iname", ".sdkmanrc", "-o", "-iname", ".*-version", "-o"],
  ...["-iname", ".*-versions", ")"]
]

export const isVersionName = (path: string): boolean => namePattern.test(basename(path))

const largest = 16 * 1024

const withoutComment = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const at = words.findIndex((word) => word.startsWith("#"))
  return at === -1 ? words : words.slice(0, at)
}

/** A word such as `20`, `v22.1.0`, `lts/iron`, `3.12-dev` or `java=21.0.2-tem`; a comment is passed over. Pure. */
export const namesVersionsAlone = (text: string): boolean =>
  text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .flatMap((line) => withoutComment(line.trim().split(/\s+/)))
    .every((word) => word === "" || /^(?:\w+=)?(?:lts\/)?[\w*][\w.*+-]*$/.test(word))

/** Undefined: it names versions alone, or leads to another such file beside it. */
export const versionsAt = async (path: string) => {
  const found = entryAt(path)
  if (found === undefined || found.isDirectory()) return undefined
  const target = targetOf(path)
  if (target !== undefined && isVersionName(target) && basename(target) === normalize(target)) return undefined
  const text = found.isFile()
    ? await readForeignText(path, { largestBytes: largest, follow: false }).catch(() => undefined)
    : undefined
  if (text !== undefined && namesVersionsAlone(text)) return undefined
  const says = found.isFile() ? "more than a version" : `a version, which ${kindOf(found)}`
  return { path, says: [says], content: text ?? target ?? `${kindOf(found)} ${found.size} ${found.mtimeMs}` }
}
