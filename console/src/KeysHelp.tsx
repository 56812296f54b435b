/** The keys that are valid on the page that is shown. */
import { gateKeysHelp, undoKey } from "@reprise/protocol"
import { useEffect, useRef } from "react"

export interface ValidKeys {
  /** A question is shown. */
  readonly isQuestion: boolean
  readonly mayFork: boolean
  readonly mayAnswer: boolean
  readonly hasSeveral: boolean
  readonly mayStart: boolean
}

type Row = readonly [keys: string, does: string]

const rowsOf = ({ hasSeveral, isQuestion, mayAnswer, mayFork, mayStart }: ValidKeys): ReadonlyArray<Row> => {
  const { attach, enter, filter, final, fork, skip, tabs } = gateKeysHelp
  const answering: ReadonlyArray<Row> = [
    ["the key of a choice", "chooses it, with your guidance"],
    enter,
    final,
    ...(mayFork ? [fork] : []),
    ["e, Esc", "writes guidance; leaves it and keeps your text"]
  ]
  const reading: ReadonlyArray<Row> = [tabs, attach, ["j k, ↓ ↑, Space", "scroll"]]
  return [
    ...(isQuestion && mayAnswer ? answering : []),
    ...(mayAnswer ? [[undoKey, "takes the last answer back, for a few seconds"] as const] : []),
    ...(isQuestion ? reading : []),
    ...(hasSeveral ? [skip, filter] : []),
    ["N, R", "needs you, runs"],
    ...(mayStart ? [["S", "start a run"] as const] : []),
    ["?", "these keys"]
  ]
}

export function KeysHelp({ onClose, valid }: { readonly onClose: () => void; readonly valid: ValidKeys }) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => box.current?.showModal(), [])
  return (
    <dialog
      aria-labelledby="keys"
      className="border-line bg-card text-text m-auto w-[min(34rem,calc(100vw-2rem))] rounded-lg border px-4 py-3 backdrop:bg-black/40"
      onClose={onClose}
      onKeyDown={(event) => {
        if (event.key !== "?") return
        event.preventDefault()
        box.current?.close()
      }}
      ref={box}
    >
      <div className="flex items-baseline justify-between">
        <h2 className="text-base" id="keys">
          Keys
        </h2>
        <button className="text-accent min-h-11 underline" onClick={() => box.current?.close()} type="button">
          Close
        </button>
      </div>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        {rowsOf(valid).map(([keys, does]) => (
          <div className="contents" key={keys}>
            <dt className="text-strong font-mono text-[13px] max-sm:max-w-28">{keys}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  )
}
