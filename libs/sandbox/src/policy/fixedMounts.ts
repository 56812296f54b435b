/**
 * Mounts that a command can put nowhere else. A mount itself cannot be renamed or removed; a folder above it can be where it
 * lies in one that commands write, and bubblewrap would follow a link in its place at the next command. Pure.
 */
import { foldersAbove, type Mount, ordered, seenIn } from "./mounts.ts"

/** How the folder stays where it is, seen as before. Undefined: no command could rename it. */
const anchorAt = (path: string, mounts: ReadonlyArray<Mount>): Mount | undefined => {
  const seen = seenIn(mounts, path)
  if (seen?.as !== "writable" || seen.path === path) return undefined
  // In a folder that is another one inside, such as `/tmp`, the machine's own must not appear.
  return { path, as: seen.from === undefined ? "writable" : "hidden-folder" }
}

/**
 * The mounts, in order, with further ones on the folders above each of them and above where it comes from, as far as commands could
 * rename these. `folders`: others that must stay where they are.
 */
export const fixed = (mounts: ReadonlyArray<Mount>, folders: ReadonlyArray<string>): ReadonlyArray<Mount> => {
  const paths = new Set([...folders, ...mounts.flatMap(({ path }) => foldersAbove(path))])
  // What is seen there as another folder is not what it comes from.
  const sources = mounts.flatMap(({ from }) => (from === undefined ? [] : [...foldersAbove(from), from]))
  let all = ordered(mounts)
  for (const path of [...paths].sort()) {
    const anchor = anchorAt(path, all)
    if (anchor !== undefined) all = ordered([...all, anchor])
  }
  for (const path of [...new Set(sources)].sort()) {
    const anchor = anchorAt(path, all)
    if (anchor?.as === "writable") all = ordered([...all, anchor])
  }
  return all
}
