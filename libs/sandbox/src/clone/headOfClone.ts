/** What a clone says its branch and its newest commit are. A command wrote it, so it is a hint alone: git fetches, and checks, what it says. */
import { join } from "node:path"
import { readForeignText } from "@reprise/process"

const hash = /^[0-9a-f]{40}([0-9a-f]{24})?$/
const largestRef = 1024
const largestPacked = 64 * 1024 * 1024

const textOf = (path: string, largestBytes: number) =>
  readForeignText(path, { largestBytes, follow: false }).then(
    (text) => text ?? "",
    () => ""
  )

/** The branch that a text of `HEAD` names. Undefined: it is detached, or no such text. */
export const branchIn = (head: string): string | undefined => /^ref: (refs\/heads\/[^\s\0]+)\n?$/.exec(head)?.[1]

const packedHash = (packed: string, branch: string): string | undefined =>
  packed
    .split("\n")
    .find((line) => line.endsWith(` ${branch}`))
    ?.split(" ")[0]

export interface CloneHead {
  readonly head: string
  /** Undefined: it does not say one. */
  readonly commit: string | undefined
}

/** `common`: where refs are, if elsewhere, as for a worktree. */
export const headOfClone = async (folder: string, common = folder): Promise<CloneHead> => {
  const head = (await textOf(join(folder, "HEAD"), largestRef)).trim()
  if (hash.test(head)) return { head, commit: head }
  const branch = branchIn(head)
  if (branch === undefined || branch.split("/").includes("..")) return { head, commit: undefined }
  const loose = (await textOf(join(common, branch), largestRef)).trim()
  const commit = hash.test(loose) ? loose : packedHash(await textOf(join(common, "packed-refs"), largestPacked), branch)
  return { head, commit }
}
