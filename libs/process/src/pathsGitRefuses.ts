/**
 * Paths that git refuses for a file of a working tree, by whatever name a disk may take one for `.git`. It asks (`verify_path`) when an
 * entry is made, and never when an index is read: one that somebody else wrote has the next checkout write there. Pure.
 */
import type { Bytes } from "./pathBytes.ts"
import { stateFolder } from "./workingTree.ts"

/** What HFS+ passes over in a name, as UTF-8: U+200C to 200F, 202A to 202E, 206A to 206F, FEFF. */
const passedOver = /\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf/g

const nothingOrHere = /(?:^|\/)\.{0,2}(?:\/|$)/
/** NTFS takes blanks and dots away from the end of a name, has a short one, streams, and another separator. */
const gitsFolder = /(?:^|[/\\])(?:\.git|git~1)[. ]*(?:$|[/\\:])/i
/** git reads it where it is a file, so a link by its name would lead it elsewhere. */
const modules = /(?:^|[/\\])(?:\.gitmodules|gitmod~[1-4]|(?:g|gi|gi7|gi7e|gi7eb|gi7eba)?~[1-9]\d*)[. ]*(?:$|[/\\:])/i
/** No submodule is there, but what commands write: their caches. */
const isOfState = (path: Bytes) => path.split("/", 1)[0]?.toLowerCase() === stateFolder

/** `mode`: of the entry, as `0o160000` for a submodule, and `0o40000` for a whole folder, whose path ends with a slash. */
export const isRefusedPath = (path: Bytes, mode: number): boolean => {
  const named = mode === 0o40000 && path.endsWith("/") ? path.slice(0, -1) : path
  const plain = /[\xe2\xef]/.test(named) ? named.replace(passedOver, "") : named
  return (
    path.includes("\0") ||
    nothingOrHere.test(named) ||
    gitsFolder.test(named) ||
    gitsFolder.test(plain) ||
    (mode === 0o120000 && modules.test(plain)) ||
    (mode === 0o160000 && isOfState(plain))
  )
}
