/** What a session that may write in its workspace may write: symbolic links and `..` resolved. */
import { lstat, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"

/** Inside a workspace, but what is written there is run by, or gives leave to, others than the agent's tools. */
const guarded = new Set([
  ".git",
  ".opencode",
  ".claude",
  ".mcp.json",
  ".reprise",
  "opencode.json",
  "opencode.jsonc",
  "reprise.toml"
])

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

/** Where a path really leads: its nearest ancestor that exists decides. A link to nowhere leads nobody knows where. */
const realPathOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    if (!isMissing(error) || parent === path || (await exists(path))) throw error
    return join(await realPathOf(parent), path.slice(parent.length))
  }
}

/** Whether a write to the path stays in the directory and off what is guarded. */
export const isInside = async (directory: string, path: string): Promise<boolean> => {
  try {
    const inner = relative(await realpath(directory), await realPathOf(resolve(directory, path)))
    if (inner === "" || isAbsolute(inner) || inner.split(sep)[0] === "..") return false
    return !inner.split(sep).some((name) => guarded.has(name.toLowerCase()))
  } catch {
    // A loop of links, a link to nowhere, a directory that may not be read: not known to be inside.
    return false
  }
}
