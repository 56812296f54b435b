/** A patch file by file: what each adds and removes, and as much of it as a page can show. Pure. */
import type { ConsoleChangedFile } from "@reprise/protocol"

interface FilePatch {
  readonly path: string
  readonly added: number
  readonly removed: number
  readonly text: string
}

const nameIn = (header: string, pattern: RegExp): string | undefined => pattern.exec(header)?.[1]

/** Git ends a name that has a blank with a tab, and puts one with other odd characters between quotation marks. */
const named = (name: string): string => name.replace(/\t$/, "").replace(/^"(?:[ab]\/)?(.*)"$/s, "$1")

/** A file without lines, such as a binary one, has its name in the first line only. */
const pathIn = (header: string): string =>
  named(
    nameIn(header, /^rename to (.*)$/m) ??
      nameIn(header, /^\+\+\+ (?:b\/)?(?!\/dev\/null)(.*)$/m) ??
      nameIn(header, /^--- (?:a\/)?(?!\/dev\/null)(.*)$/m) ??
      nameIn(header, /^diff --git a\/(.*) b\/\1$/m) ??
      nameIn(header, /^diff --git (.*)$/m) ??
      ""
  )

const count = (lines: string, sign: "+" | "-"): number => {
  let found = 0
  for (let at = lines.indexOf(`\n${sign}`); at >= 0; at = lines.indexOf(`\n${sign}`, at + 1)) found += 1
  return found
}

/** Every line of a hunk begins with a sign, so that no content looks like the beginning of another file. */
const filesOf = (patch: string): ReadonlyArray<FilePatch> =>
  patch.split(/^(?=diff --git )/m).flatMap((text) => {
    if (!text.startsWith("diff --git ")) return []
    const hunks = /^@@ /m.exec(text)?.index ?? text.length
    const lines = text.slice(hunks)
    return [{ path: pathIn(text.slice(0, hunks)), added: count(lines, "+"), removed: count(lines, "-"), text }]
  })

/** The beginning, as whole lines. */
const startOf = (text: string, most: number): string => text.slice(0, text.lastIndexOf("\n", most - 1) + 1)

/**
 * The files of a patch with as much of their text as fits in `most` characters. Small files are whole, however large
 * another one is.
 */
export const fitPatch = (
  patch: string,
  most: number
): { readonly files: ReadonlyArray<ConsoleChangedFile>; readonly text: string } => {
  const files = filesOf(patch)
  const shown = new Map<FilePatch, string>()
  let left = most
  for (const file of files.toSorted((a, b) => a.text.length - b.text.length)) {
    const text = file.text.length <= left ? file.text : startOf(file.text, left)
    shown.set(file, text)
    left -= text.length
  }
  return {
    text: files.map((file) => shown.get(file) ?? "").join(""),
    files: files.map((file) => {
      const { added, path, removed, text } = file
      const part = shown.get(file) ?? ""
      return { path, added, removed, shown: part === text ? "whole" : part === "" ? "none" : "start" }
    })
  }
}
