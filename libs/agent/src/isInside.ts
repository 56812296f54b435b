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

const configurations = ["config", "config.worktree", "commondir"]

/**
 * What makes git take a folder without `.git` for a repository, and what it obeys there: `HEAD`, and beside one its configuration and
 * hooks. `path`: real.
 */
const isOfBareRepository = async (directory: string, path: string): Promise<boolean> => {
  const names = relative(directory, path).toLowerCase().split(sep)
  const name = names.at(-1) ?? ""
  if (name === "head") return true
  const depths = names.flatMap((one, depth) =>
    one === "hooks" || (depth === names.length - 1 && configurations.includes(one)) ? [depth] : []
  )
  const folders = depths.map((depth) => resolve(path, ...Array.from({ length: names.length - depth }, () => "..")))
  return (await Promise.all(folders.map((folder) => exists(join(folder, "HEAD"))))).some(Boolean)
}

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
    const [root, real] = [await realpath(directory), await realPathOf(resolve(directory, path))]
    const inner = relative(root, real)
    return inner !== "" && isWithin(inner) && !isGuarded(inner) && !(await isOfBareRepository(root, real))
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
  const found = await Promise.all([realpath(directory), realPathOf(named)]).then(
    async ([root, place]) => ({ real: nameIn(root, place), isBare: await isOfBareRepository(root, place) }),
    () => undefined
  )
  const real = found?.real
  return { name, real, guarded: isGuarded(name) || isGuarded(real ?? "") || found?.isBare === true }
}
