/**
 * Files that git's own configuration of a repository names, wherever they are. Only to find out for which of them git waits: git
 * cannot be asked then, as it would wait again. So a path that is misread here is only not found.
 */
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { readForeignText } from "./foreignFile.ts"

const largestBytes = 1024 * 1024
const mostFiles = 100

/** Values of any key that may be paths: of an include, of attributes, of ignored files. Pure. */
export const pathsIn = (text: string): ReadonlyArray<string> =>
  text.split(/\r?\n/).flatMap((line) => {
    const [, value = ""] = /^[^=#;]*=\s*(.*?)\s*$/.exec(line) ?? []
    const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(value)
    const path = quoted === null ? value.replace(/\s*[#;].*$/, "") : (quoted[1] ?? "").replaceAll(/\\(.)/g, "$1")
    return path === "" || path.includes("\0") ? [] : [path]
  })

const placeOf = (file: string, path: string): string =>
  path.startsWith("~/") ? join(homedir(), path.slice(2)) : resolve(dirname(file), path)

/** Absolute, with those that an included file names. `folders`: of git. */
export const namedByConfiguration = async (folders: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const named = new Set<string>()
  const next = folders.flatMap((folder) => [join(folder, "config"), join(folder, "config.worktree")])
  for (const file of next) {
    if (named.size > mostFiles) break
    // What is no file has no text; the caller looks what it is.
    const text = await readForeignText(file, { largestBytes, follow: true }).catch(() => undefined)
    for (const path of pathsIn(text ?? "").map((one) => placeOf(file, one))) {
      if (named.has(path)) continue
      named.add(path)
      next.push(path)
    }
  }
  return [...named]
}
