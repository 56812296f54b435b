/** A log of any length: only the lines that are seen are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef } from "react"
import { visible } from "./visible.ts"

const lineHeight = 20
/** A longer line goes on in the next row: one of a megabyte would stop the page. */
const longestRow = 5_000

const rowsOf = (line: string): ReadonlyArray<string> =>
  line.length <= longestRow
    ? [line]
    : Array.from({ length: Math.ceil(line.length / longestRow) }, (_, n) =>
        line.slice(n * longestRow, (n + 1) * longestRow)
      )

export default function LongText({ atEnd = false, label, text }: { atEnd?: boolean; label: string; text: string }) {
  const box = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => visible(text.trimEnd()).split("\n").flatMap(rowsOf), [text])
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => lineHeight,
    overscan: 20
  })
  useEffect(() => {
    if (atEnd) rows.scrollToIndex(lines.length - 1, { align: "end" })
  }, [atEnd, lines.length, rows])
  return (
    <section
      aria-label={label}
      className="border-line bg-well max-h-[60vh] overflow-auto rounded-md border font-mono text-[13px]"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <div className="relative w-full min-w-max" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => (
          <div
            className="absolute left-0 top-0 px-3 whitespace-pre"
            key={key}
            style={{ height: lineHeight, lineHeight: `${lineHeight}px`, transform: `translateY(${start}px)` }}
          >
            {lines[index]}
          </div>
        ))}
      </div>
    </section>
  )
}
