/** Which branch and which commit a git directory is at, as its files say it. */
import { join } from "node:path"
import { readForeignText, replaceFile } from "@reprise/process"
import type { Clone } from "./clonePlaces.ts"

export interface Head {
  /** What stands in `HEAD`: `ref: refs/heads/…`, or a hash. */
  readonly head: string
  /** Empty: none yet, or it is not known. */
  readonly commit: string
  /** Those that an author has been on, of a clone alone. */
  readonly branches?: ReadonlyArray<string>
}

/** By the path of a git directory: that of the working tree, and those of its submodules. */
export type Heads = Readonly<Record<string, Head>>

const hash = /^[0-9a-f]{40}([0-9a-f]{24})?$/
const largestRef = 1024
const largestRecord = 16 * 1024 * 1024
const largestPacked = 64 * 1024 * 1024

/** What is no file that git wrote says nothing. */
const textOf = (path: string, largestBytes: number) =>
  readForeignText(path, { largestBytes, follow: false }).then(
    (text) => text ?? "",
    () => ""
  )

/** The branch that a text of `HEAD` names. Undefined: it is detached, or no such text. */
export const branchIn = (head: string): string | undefined => /^ref: (refs\/heads\/[^\s\0]+)$/.exec(head)?.[1]

const packedHash = (packed: string, branch: string): string =>
  packed
    .split("\n")
    .find((line) => line.endsWith(` ${branch}`))
    ?.split(" ")[0] ?? ""

/**
 * Of a clone it is a hint alone, since commands write it: git fetches, and checks, what it says. `common`: where refs are, if elsewhere,
 * as for a worktree.
 */
export const headIn = async (directory: string, common = directory): Promise<Head> => {
  const head = (await textOf(join(directory, "HEAD"), largestRef)).trim()
  if (hash.test(head)) return { head, commit: head }
  const branch = branchIn(head)
  if (branch === undefined || branch.split("/").includes("..")) return { head, commit: "" }
  const loose = (await textOf(join(common, branch), largestRef)).trim()
  if (hash.test(loose)) return { head, commit: loose }
  return { head, commit: packedHash(await textOf(join(common, "packed-refs"), largestPacked), branch) }
}

export const isSameHead = (one: Head, other: Head | undefined): boolean =>
  one.head === other?.head && one.commit === other.commit

/** What repository and clone last had in common. Undefined: there is no clone. */
export const headsOf = async ({ record }: Pick<Clone, "record">): Promise<Heads | undefined> => {
  const text = await readForeignText(record, { largestBytes: largestRecord, follow: false })
  return text === undefined ? undefined : (JSON.parse(text) as Heads)
}

export const keepHeads = ({ record }: Clone, heads: Heads): Promise<void> =>
  replaceFile(record, JSON.stringify(heads), { mode: 0o600 })
