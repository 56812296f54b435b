/**
 * An index that a command wrote itself, with entries that git never makes, but believes: one inside of `.git` or outside of the tree has
 * the next `git restore` write there, and a submodule there has the next `git status` obey its configuration.
 */
import { createHash } from "node:crypto"
import { lstat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { sharedBy } from "./commonDirectory.ts"
import { ForeignFileRefused, readForeignFile, readForeignText } from "./foreignFile.ts"
import { readIndexEntries, refusedEntries, UnclearIndex } from "./indexEntries.ts"
import { asText, type Bytes } from "./pathBytes.ts"
import { rememberWhile } from "./rememberWhile.ts"

/** Of an index; one of a million files has 100 MB. */
export const largestIndex = 1024 * 1024 * 1024
const largestConfiguration = 1024 * 1024

const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    () => false
  )

/** Of a worktree it is where git itself keeps worktrees, whatever `commondir` says. */
const commonOf = async (gitDirectory: string): Promise<string> =>
  (await isThere(join(gitDirectory, "commondir"))) ? sharedBy(gitDirectory) : gitDirectory

/** How many bytes name an object. git reads it in this one file, whose keys cannot be written in another way. */
const hashBytesBy = async (configuration: string): Promise<number> => {
  const text = (await readForeignText(configuration, { largestBytes: largestConfiguration, follow: true })) ?? ""
  const lines = text.split("\n").filter((line) => /objectformat/i.test(line))
  const [, format] = /^objectformat\s*=\s*(sha1|sha256)$/i.exec(lines[0]?.trim() ?? "") ?? []
  if (lines.length > 1 || (lines.length === 1 && format === undefined))
    throw new UnclearIndex("nobody knows how objects are named")
  return format?.toLowerCase() === "sha256" ? 32 : 20
}

/** Why no git should read an index. */
export interface ForgedIndex {
  /** For people, not all of it: `the entry ".git/x"`. */
  readonly says: ReadonlyArray<string>
  /** Changes with what is wrong. */
  readonly content: string
  /** git may be unable to read it as well. */
  readonly isUnclear?: true
}

interface Look {
  /** From which it follows. */
  readonly files: ReadonlyArray<string>
  readonly forged: ForgedIndex | undefined
}

const mostSaid = 5

const forgedBy = (refused: ReadonlyArray<Bytes>): ForgedIndex | undefined =>
  refused.length === 0
    ? undefined
    : {
        says: refused.slice(0, mostSaid).map((path) => `the entry ${JSON.stringify(asText(path))}`),
        content: refused.join("\0")
      }

const lookAt = async (index: string, content: Buffer, configuration: string): Promise<Look> => {
  const hashBytes = await hashBytesBy(configuration)
  const found = readIndexEntries(content, hashBytes)
  if (found.link === undefined) return { files: [index, configuration], forged: forgedBy(refusedEntries(found)) }
  const other = join(dirname(index), `sharedindex.${found.link}`)
  const shared = await readForeignFile(other, { largestBytes: largestIndex, follow: false })
  if (shared === undefined) throw new UnclearIndex("its other file is not there")
  const base = readIndexEntries(shared, hashBytes)
  if (base.link !== undefined) throw new UnclearIndex("its other file goes on in a third one")
  return { files: [index, other, configuration], forged: forgedBy(refusedEntries(found, base.entries)) }
}

const look = async (gitDirectory: string): Promise<Look> => {
  const index = join(gitDirectory, "index")
  let content: Buffer | undefined
  try {
    content = await readForeignFile(index, { largestBytes: largestIndex, follow: true })
    if (content === undefined) return { files: [index], forged: undefined }
    return await lookAt(index, content, join(await commonOf(gitDirectory), "config"))
  } catch (error) {
    const known = createHash("sha256")
      .update(content ?? "")
      .digest("hex")
    // Something else may be there as soon as another file changes.
    if (error instanceof UnclearIndex)
      throw new Forged({
        says: [`an index that git does not write: ${error.message}`],
        content: known,
        isUnclear: true
      })
    if (error instanceof ForeignFileRefused)
      throw new Forged({ says: [`an index that ${error.what}`], content: error.code, isUnclear: true })
    throw error
  }
}

/** Not remembered. */
class Forged extends Error {
  readonly forged: ForgedIndex
  constructor(forged: ForgedIndex) {
    super(forged.says.join())
    this.forged = forged
  }
}

const looked = rememberWhile<Look>(({ files }) => files)

/**
 * Undefined: the working tree has no index, or nothing is wrong with it. The same file is not read again. `gitDirectory`: of the working
 * tree, absolute.
 */
export const forgedIndexIn = async (gitDirectory: string): Promise<ForgedIndex | undefined> => {
  // Most submodules and worktrees have one, but not all.
  if (!(await isThere(join(gitDirectory, "index")))) return undefined
  try {
    return (await looked(gitDirectory, () => look(gitDirectory))).forged
  } catch (error) {
    if (error instanceof Forged) return error.forged
    throw error
  }
}
