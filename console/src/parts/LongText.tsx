/** A log of any length: only the lines that are seen are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef } from "react"
import { visible } from "./visible.ts"

const lineHeight = 20
/** A line of a megabyte would stop the page. */
const longestLine = 10_000

const cut = (line: string): string =>
  line.length <= longestLine ? line : `${line.slice(0, longestLine)} … ${line.length - longestLine} more characters`

export default function LongText({ atEnd = false, label, text }: { atEnd?: boolean; label: string; text: string }) {
  const box = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => visible(text.trimEnd()).split("\n").map(cut), [text])
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
