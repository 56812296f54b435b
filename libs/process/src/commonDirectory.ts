/**
 * Which git directory the working trees of a repository share. git reads it from a file `commondir`, which a command of an agent may
 * make or change while it runs, also in a worktree that was added meanwhile: the configuration there starts programs. Where git itself
 * keeps worktrees tells it as well. Reads only.
 */
import { lstat } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { readForeignText } from "./foreignFile.ts"

/** `directory`: that of a working tree. Pure. */
export const sharedBy = (directory: string): string =>
  basename(dirname(directory)) === "worktrees" ? dirname(dirname(directory)) : directory

/** git reads as much of `.git`, and passes over line breaks at its end. */
const largestPointer = 1024 * 1024

const textOf = (path: string) => readForeignText(path, { largestBytes: largestPointer, follow: false })

const prefix = "gitdir: "

/** That of a working tree. `top`: its folder. Undefined: there is no `.git` at the top that says it. Rejected where it cannot be read. */
const directoryOf = async (top: string): Promise<string | undefined> => {
  const path = join(top, ".git")
  const found = await lstat(path).catch(() => undefined)
  if (found?.isFile() !== true) return found?.isDirectory() || found?.isSymbolicLink() ? path : undefined
  const text = (await textOf(path)) ?? ""
  const named = text.startsWith(prefix) ? text.slice(prefix.length).trimEnd() : ""
  return named === "" ? undefined : resolve(top, named)
}

/** git would take refs from where the file `commondir` leads. */
export class AnotherCommonDirectory extends Error {
  constructor(pointer: string) {
    super(
      `${pointer} leads to another git directory than git itself writes there. A command may have made it: remove it.`
    )
  }
}

/** `top`: of a working tree. Undefined: there is no `.git` at the top that says it. Rejected with `AnotherCommonDirectory`, or `ForeignFileRefused`. */
export const commonDirectoryOf = async (top: string): Promise<string | undefined> => {
  const directory = await directoryOf(top)
  if (directory === undefined) return undefined
  const common = sharedBy(directory)
  const pointer = join(directory, "commondir")
  if ((await lstat(pointer).catch(() => undefined)) === undefined) return common
  const named = (await textOf(pointer).catch(() => undefined))?.trimEnd()
  if (named === undefined || named === "" || resolve(directory, named) !== common)
    throw new AnotherCommonDirectory(pointer)
  return common
}
