/** Sizes of files and functions. */
import { parseSync, Visitor } from "oxc-parser"
import { countLines, lineAt, type Sources } from "./sources.ts"

export interface Size {
  readonly place: string
  readonly lines: number
}

const byLines = (a: Size, b: Size) => b.lines - a.lines || (a.place < b.place ? -1 : 1)

/** The files, the longest first. */
export const fileSizes = (sources: Sources): ReadonlyArray<Size> =>
  [...sources].map(([place, text]) => ({ place, lines: countLines(text) })).sort(byLines)

/** The functions of every kind, nested ones too, with `file:line`; the longest first. */
export const functionSizes = (sources: Sources): ReadonlyArray<Size> =>
  [...sources].flatMap(([file, text]) => functionsOf(file, text)).sort(byLines)

const functionsOf = (file: string, text: string): ReadonlyArray<Size> => {
  const sizes: Array<Size> = []
  const add = ({ start, end }: { readonly start: number; readonly end: number }) => {
    const first = lineAt(text, start)
    sizes.push({ place: `${file}:${first}`, lines: lineAt(text, end) - first + 1 })
  }
  new Visitor({
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add
  }).visit(parseSync(file, text).program)
  return sizes
}
