/** Where a path leads, with symbolic links and `..` resolved, and which files a session may write without a question. */
import { lstat, realpath } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { steadyPathOrAbove } from "@reprise/process"
import { bearsCommands } from "@reprise/sandbox"
import type { Place } from "./rules/PermissionRules.ts"

const isWithin = (inner: string): boolean => !isAbsolute(inner) && inner.split(sep)[0] !== ".."

/** Never writable without a question, even inside a workspace: files that other programs obey or read permissions from. */
const isGuarded = (path: string): boolean => {
  const names = path.split(sep)
  return bearsCommands(names.join("/")) || names.some((name) => [".git", ".reprise"].includes(name.toLowerCase()))
}

/**
 * Tells which files and folders commands may not change, absolute. Rejected: nobody knows, so everything counts as guarded.
 */
export type ProtectedPaths = () => Promise<ReadonlyArray<string>>

/** For what is only read. */
export const nothingProtected: ProtectedPaths = () => Promise.resolve([])

const isAtOrBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** In any case of letters, as above. A folder around one of them counts too: with it, it would be moved. `path`: real. */
const isProtected = async (path: string, protectedPaths: ProtectedPaths): Promise<boolean> => {
  const written = path.toLowerCase()
  return (await protectedPaths()).some((one) => {
    const kept = one.toLowerCase()
    return isAtOrBelow(written, kept) || isAtOrBelow(kept, written)
  })
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false
  )

const configurations = ["config", "config.worktree", "commondir"]

/** Each makes a folder a git directory together with others, which may lie elsewhere or come later. */
const ofRepository = ["HEAD", "commondir", "objects", "refs", "worktrees"]

/** In a folder with hooks: those of a program's source are none, which may lie beside other folders of such a name. */
const hasSome = async (folder: string, isOfHooks: boolean): Promise<boolean> => {
  const found = await Promise.all(ofRepository.map((name) => exists(join(folder, name))))
  const [head, commondir, objects, refs] = found
  return isOfHooks ? head === true || commondir === true || (objects === true && refs === true) : found.includes(true)
}

/**
 * What makes git take a folder without `.git` for a repository, and what it obeys there: `HEAD`, and its configuration and hooks
 * beside anything of a git directory. Of a worktree `HEAD` lies elsewhere. `path`: real.
 */
const isOfBareRepository = async (directory: string, path: string): Promise<boolean> => {
  const names = relative(directory, path).toLowerCase().split(sep)
  const name = names.at(-1) ?? ""
  if (name === "head") return true
  const looks = names.flatMap((one, depth) => {
    const isOfHooks = one === "hooks"
    if (!isOfHooks && !(depth === names.length - 1 && configurations.includes(one))) return []
    return [hasSome(resolve(path, ...Array.from({ length: names.length - depth }, () => "..")), isOfHooks)]
  })
  return (await Promise.all(looks)).some(Boolean)
}

/**
 * Where a path leads, for the program that opens it as well as here: as it is written, for programs that take `..` away first, and
 * as the kernel goes, for which `..` after a link is beside what the link leads to. Throws where these are two places.
 */
const realPathOf = (directory: string, path: string): string => {
  const real = steadyPathOrAbove(resolve(directory, path))
  if (!path.split(sep).includes("..")) return real
  if (steadyPathOrAbove(isAbsolute(path) ? path : `${directory}${sep}${path}`) === real) return real
  throw new Error(`${path} leads to two places.`)
}

/**
 * Whether a file may be read without a question: nothing that a link in the directory leads out to, and not Reprise's own
 * state. A path outside of the directory is another question, which the runtime has asked already.
 */
export const isReadable = async (directory: string, path: string): Promise<boolean> => {
  try {
    const named = resolve(directory, path)
    if (!isWithin(relative(resolve(directory), named))) return true
    const inner = relative(await realpath(directory), realPathOf(directory, path))
    return isWithin(inner) && inner.split(sep)[0]?.toLowerCase() !== ".reprise"
  } catch {
    return false
  }
}

/** Whether a write to the path stays in the directory and touches no guarded file. */
export const isInside = async (directory: string, path: string, protectedPaths: ProtectedPaths): Promise<boolean> => {
  try {
    const [root, real] = [await realpath(directory), realPathOf(directory, path)]
    const inner = relative(root, real)
    if (inner === "" || !isWithin(inner) || isGuarded(inner)) return false
    return !(await isOfBareRepository(root, real)) && !(await isProtected(real, protectedPaths))
  } catch {
    // A loop of links, a dangling link, one of the kernel or an unreadable directory: not provably inside.
    return false
  }
}

/** Relative to the directory if it is in it, else absolute. */
const nameIn = (directory: string, path: string): string => {
  const inner = relative(directory, path)
  return isWithin(inner) ? inner || "." : path
}

/** A path of a tool, as rules see it. */
export const placeOf = async (directory: string, path: string, protectedPaths: ProtectedPaths): Promise<Place> => {
  const named = resolve(directory, path)
  const name = nameIn(resolve(directory), named)
  // A loop of links, a dangling link, one of the kernel or an unreadable directory has no real path.
  const found = await realpath(directory)
    .then(async (root) => {
      const place = realPathOf(directory, path)
      const isBare = await isOfBareRepository(root, place)
      return {
        real: nameIn(root, place),
        isObeyed: isBare || (await isProtected(place, protectedPaths).catch(() => true))
      }
    })
    .catch(() => undefined)
  const real = found?.real
  return { name, real, guarded: isGuarded(name) || isGuarded(real ?? "") || found?.isObeyed === true }
}
