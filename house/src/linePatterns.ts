/**
 * Finds regular expressions of production code with the flag `m`. With it `^` and `$` match beside `\r`, U+2028 and U+2029 too,
 * which end a line neither for git nor for any other program whose output is read: whoever writes a file, or names one, could have
 * a part of a line taken for a line of that program.
 */
import { parseSync, Visitor } from "oxc-parser"
import { isProductCode } from "./slowPatterns.ts"
import { lineAt, type Sources } from "./sources.ts"

export interface LinePattern {
  readonly file: string
  readonly line: number
  /** As it is written. */
  readonly pattern: string
}

const patternsIn = (file: string, text: string): ReadonlyArray<LinePattern> => {
  const found: Array<LinePattern> = []
  const add = ({ end, start }: { readonly start: number; readonly end: number }) =>
    void found.push({ file, line: lineAt(text, start), pattern: text.slice(start, end) })
  new Visitor({
    Literal: (node) => {
      if ("regex" in node && node.regex.flags.includes("m")) add(node)
    },
    NewExpression: (node) => {
      if (isMultiline(text, node)) add(node)
    },
    CallExpression: (node) => {
      if (isMultiline(text, node)) add(node)
    }
  }).visit(parseSync(file, text).program)
  return found
}

interface Call {
  readonly callee: { readonly start: number; readonly end: number }
  readonly arguments: ReadonlyArray<object>
}

/** Flags that are put together while the program runs may have it. */
const isMultiline = (text: string, { arguments: [, flags], callee }: Call): boolean => {
  if (text.slice(callee.start, callee.end) !== "RegExp" || flags === undefined) return false
  return !("value" in flags && typeof flags.value === "string" && !flags.value.includes("m"))
}

export const findLinePatterns = (sources: Sources): ReadonlyArray<LinePattern> =>
  [...sources].filter(([path]) => isProductCode(path)).flatMap(([path, text]) => patternsIn(path, text))

export const showLinePattern = ({ file, line, pattern }: LinePattern): string =>
  `${file}:${line} ${pattern} takes \\r, U+2028 and U+2029 for ends of lines: split the text at its own ends of lines, or begin with (?<![^\\n]) in place of ^, and end with (?![^\\n]) in place of $.`
