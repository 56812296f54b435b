/** As much of the changes as a page can show. Pure. */
import type { ConsoleChangedFile } from "@reprise/protocol"
import type { FileDiff } from "./readDiff.ts"

/** The beginning, as whole lines. */
const startOf = (text: string, most: number): string => text.slice(0, text.lastIndexOf("\n", most - 1) + 1)

const shownOf = ({ isWhole, text }: FileDiff, part: string): ConsoleChangedFile["shown"] => {
  if (isWhole && part === text) return "whole"
  return part === "" ? "none" : "start"
}

/**
 * The files with as much of their text as fits in `most` characters. Small files are whole, however large another one is.
 */
export const fitPatch = (diffs: ReadonlyArray<FileDiff>, most: number): ReadonlyArray<ConsoleChangedFile> => {
  const parts = new Map<FileDiff, string>()
  let left = most
  for (const diff of diffs.toSorted((a, b) => a.text.length - b.text.length)) {
    const part = diff.text.length <= left ? diff.text : startOf(diff.text, left)
    parts.set(diff, part)
    left -= part.length
  }
  return diffs.map((diff) => {
    const { isWhole: _, ...file } = diff
    const text = parts.get(diff) ?? ""
    return { ...file, text, shown: shownOf(diff, text) }
  })
}
