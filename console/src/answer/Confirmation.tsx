/** Asks whether something is meant that one key or one tap must not do. */
import { type ReactNode, useEffect, useRef } from "react"
import { Key } from "../parts/Key.tsx"

interface Props {
  /** What is asked, as a heading of what follows. */
  readonly question: string
  readonly children: ReactNode
  readonly yes: string
  /** It cannot be undone for long. */
  readonly isFinal?: boolean
  readonly onYes: () => void
  readonly onNo: () => void
}

const button = "flex min-h-11 items-center gap-2 rounded-md border px-3 py-1.5 font-medium"

/** Whoever hears the page is led here, and not to a button: Enter must confirm nothing. */
export function Confirmation({ children, isFinal = false, onNo, onYes, question, yes }: Props) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <div aria-labelledby="sure" className="space-y-2 outline-none" ref={box} role="group" tabIndex={-1}>
      <p className="text-strong font-medium" id="sure">
        {question}
      </p>
      <div className="text-sm">{children}</div>
      <div className="flex flex-wrap gap-2">
        <button
          aria-keyshortcuts="y"
          className={`${isFinal ? "border-bad text-bad bg-card" : "bg-accent text-on-accent border-accent"} ${button}`}
          onClick={onYes}
          type="button"
        >
          {yes} <Key>y</Key>
        </button>
        <button
          aria-keyshortcuts="n Escape"
          className={`border-line text-strong bg-card ${button}`}
          onClick={onNo}
          type="button"
        >
          No <Key>n</Key>
        </button>
      </div>
    </div>
  )
}
