/** Where a path leads, with symbolic links and `..` resolved, and which files a session may write without a question. */
import { lstat, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { hasCode } from "@reprise/process"
import { bearsCommands } from "@reprise/sandbox"
import type { Place } from "./rules/PermissionRules.ts"

const isWithin = (inner: string): boolean => !isAbsolute(inner) && inner.split(sep)[0] !== ".."

/** Never writable without a question, even inside a workspace: files that other programs obey or read permissions from. */
const isGuarded = (path: string): boolean => {
  const names = path.split(sep)
  return bearsCommands(names.join("/")) || names.some((name) => [".git", ".reprise"].includes(name.toLowerCase()))
}

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
    if (!hasCode(error, "ENOENT") || parent === path) throw error
    // A dangling link, or a file that was made just now.
    if (await exists(path)) return realpath(path)
    return join(await realPathOf(parent), path.slice(parent.length))
  }
}

/**
 * Whether a file may be read without a question: nothing that a link in the directory leads out to, and not Reprise's own
 * state. A path outside of the directory is another question, which the runtime has asked already.
 */
export const isReadable = async (directory: string, path: string): Promise<boolean> => {
  try {
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
    return inner !== "" && isWithin(inner) && !isGuarded(inner)
  } catch {
    // A loop of links, a dangling link or an unreadable directory: not provably inside.
    return false
  }
}

/** Relative to the directory if it is in it, else absolute. */
const nameIn = (directory: string, path: string): string => {
  const inner = relative(directory, path)
  return isWithin(inner) ? inner || "." : path
}

/** A path of a tool, as rules see it. */
export const placeOf = async (directory: string, path: string): Promise<Place> => {
  const named = resolve(directory, path)
  const name = nameIn(resolve(directory), named)
  // A loop of links, a dangling link or an unreadable directory has no real path.
  const real = await Promise.all([realpath(directory), realPathOf(named)]).then(
    ([root, place]) => nameIn(root, place),
    () => undefined
  )
  return { name, real, guarded: isGuarded(name) || isGuarded(real ?? "") }
}
