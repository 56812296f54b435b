/** Which files a session in mode `workspace` may write, with symbolic links and `..` resolved. */
import { lstat, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { hasCode } from "@reprise/process"

/** Never writable, even inside a workspace: files that other programs execute or read permissions from. */
const guarded = new Set([
  ".git",
  ".opencode",
  ".claude",
  ".mcp.json",
  ".reprise",
  "opencode.json",
  "opencode.jsonc",
  "reprise.local.toml",
  "reprise.toml"
])

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

/** The real path: of the nearest existing ancestor, plus the rest. Throws for a dangling link, whose target is unknown. */
const realPathOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    if (!hasCode(error, "ENOENT") || parent === path || (await exists(path))) throw error
    return join(await realPathOf(parent), path.slice(parent.length))
  }
}

/**
 * Whether a file may be read without a question: nothing that a link in the directory leads out to, and not Reprise's own
 * state. A path outside of the directory is another question, which the runtime has asked already.
 */
export const isReadable = async (directory: string, path: string): Promise<boolean> => {
  try {
    const isWithin = (inner: string) => !isAbsolute(inner) && inner.split(sep)[0] !== ".."
    const named = resolve(directory, path)
    if (!isWithin(relative(resolve(directory), named))) return true
    const inner = relative(await realpath(directory), await realPathOf(named))
    return isWithin(inner) && inner.split(sep)[0]?.toLowerCase() !== ".reprise"
  } catch {
    return false
  }
}

/** Whether a write to the path stays in the directory and touches no guarded file. */
export const isInside = async (directory: string, path: string): Promise<boolean> => {
  try {
    const inner = relative(await realpath(directory), await realPathOf(resolve(directory, path)))
    if (inner === "" || isAbsolute(inner) || inner.split(sep)[0] === "..") return false
    return !inner.split(sep).some((name) => guarded.has(name.toLowerCase()))
  } catch {
    // A loop of links, a dangling link or an unreadable directory: not provably inside.
    return false
  }
}
