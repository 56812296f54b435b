/** Rows in which a long text is shown. Pure. */

/** A longer line goes on in the next row: one of a megabyte would stop the page. */
const longestRow = 5_000
/** As much as is measured at once where rows are of different heights. */
const longestWrapped = 1_000

/** Where a row ends that begins at `from`: after a blank, where there is one. */
const endOf = (line: string, from: number, most: number, atBlank: boolean): number => {
  if (from + most >= line.length) return line.length
  const length = atBlank ? line.slice(from, from + most).lastIndexOf(" ") + 1 : 0
  return from + (length === 0 ? most : length)
}

const partsOf = (line: string, most: number, atBlank: boolean): ReadonlyArray<string> => {
  if (line.length <= most) return [line]
  const parts: Array<string> = []
  for (let from = 0; from < line.length; ) {
    const end = endOf(line, from, most, atBlank)
    parts.push(line.slice(from, end))
    from = end
  }
  return parts
}

/** `wraps`: the rows are as high as their words need, so they end between words. */
export const rowsOf = (text: string, wraps: boolean): ReadonlyArray<string> =>
  text.split("\n").flatMap((line) => partsOf(line, wraps ? longestWrapped : longestRow, wraps))
