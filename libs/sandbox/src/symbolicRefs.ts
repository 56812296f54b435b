/**
 * Symbolic refs that lead out of `refs`. git writes through them: the user's `git merge` writes `ORIG_HEAD`, and where that says
 * `ref: commondir`, the hash of a commit stands in a file that tells every git where its configuration is.
 */
import { relative, sep } from "node:path"
import { readForeignFile } from "@reprise/process"
import { exactly } from "./findPaths.ts"

/** In a git directory, what git writes by itself, and never as a symbolic ref. */
const plainRefs = ["*_HEAD", "AUTO_MERGE", "BISECT_EXPECTED_REV", "NOTES_MERGE_PARTIAL"]
/** This one is symbolic, as refs may be. */
const notesRef = "NOTES_MERGE_REF"

/** A ref takes a few bytes: one that is larger is none of git's. */
const largestBytes = 1024 * 1024

/** For `find`: prints refs below git directories that are symbolic, and larger ones. Not `HEAD`, which git believes only within `refs`. */
export const symbolicIn = (folders: ReadonlyArray<string>): ReadonlyArray<string> => {
  const paths = folders.flatMap((folder) => [`${exactly(folder)}/refs/*`, `${exactly(folder)}/*/refs/*`])
  const places = [
    ...paths.map((path) => ["-path", path]),
    ...[...plainRefs, notesRef].map((name) => ["-name", name])
  ].flatMap((one, at) => (at === 0 ? one : ["-o", ...one]))
  return [
    ...["-type", "f", "!", "-path", "*/logs/*", "(", ...places, ")"],
    ...["(", "-size", `+${largestBytes / 512}`, "-print0"],
    // By now it may be a pipe.
    ...["-o", "-exec", "grep", "-als", "-D", "skip", "--null", "^ref:", "{}", "+", ")"]
  ]
}

/** `within`: the path of a file in its git directory. `content`: absent where it is too large, or no file. Pure. */
export const leadsOut = (within: string, content: string | undefined): boolean => {
  const isPlain = within.endsWith("_HEAD") ? !within.includes(sep) : plainRefs.includes(within)
  const isRef = within.startsWith(`refs${sep}`) || within === notesRef
  if (content === undefined) return isRef
  if (!content.startsWith("ref:") || !(isPlain || isRef)) return false
  const target = content.slice("ref:".length).trim()
  return isPlain || !target.startsWith("refs/") || target.includes("..")
}

/** Whether git would write through a file to somewhere else than a ref. `directory`: the git directory that it is in. */
export const isStrayRef = async (path: string, directory: string): Promise<boolean> => {
  const within = relative(directory, path)
  return readForeignFile(path, { largestBytes, follow: false }).then(
    (content) => content !== undefined && leadsOut(within, content.toString("latin1")),
    () => leadsOut(within, undefined)
  )
}
