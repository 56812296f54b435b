/** A text of any length: only the lines that are seen are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef } from "react"
import { rowsOf } from "../data/rows.ts"
import { visible } from "./visible.ts"

const lineHeight = 20

interface Props {
  readonly label: string
  readonly text: string
  /** Begins at the end. */
  readonly atEnd?: boolean
  /** Prose rather than output: long lines go on below instead of to the side. */
  readonly wraps?: boolean
}

export default function LongText({ atEnd = false, label, text, wraps = false }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const lines = useMemo(() => rowsOf(visible(text.trimEnd()), wraps), [text, wraps])
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
      className={`border-line bg-well max-h-[60vh] overflow-auto rounded-md border ${wraps ? "text-sm" : "font-mono text-[13px]"}`}
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <div className={`relative w-full ${wraps ? "" : "min-w-max"}`} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => (
          <div
            className={`absolute left-0 top-0 px-3 ${wraps ? "w-full whitespace-pre-wrap" : "whitespace-pre"}`}
            data-index={index}
            key={key}
            ref={wraps ? rows.measureElement : undefined}
            style={{
              ...(wraps ? { minHeight: lineHeight, overflowWrap: "anywhere" } : { height: lineHeight }),
              lineHeight: `${lineHeight}px`,
              transform: `translateY(${start}px)`
            }}
          >
            {lines[index]}
          </div>
        ))}
      </div>
    </section>
  )
}
