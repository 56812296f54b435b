/** The gate on the terminal: draws the picture of the model, and reports what arrives. */
import { Box, Text, type TextProps, useCursor, useInput, usePaste } from "ink"
import { createElement, useInsertionEffect, useSyncExternalStore } from "react"
import type { GateModel } from "./GateModel.ts"
import { type Arrived, arrived, pastedText } from "./keys.ts"
import type { Row, SpanTone } from "./rows.ts"
import { screenOf } from "./screen.ts"

/** The model that is shown now, and the listeners for the next one. */
export interface GateStore {
  readonly get: () => GateModel
  readonly subscribe: (changed: () => void) => () => void
}

interface Props {
  readonly store: GateStore
  /** Called once, right before the first picture is written. */
  readonly onDraw: () => void
  /** `seen`: the question that is on the screen. */
  readonly onArrived: (what: Arrived, seen: string | undefined) => void
}

const looks: Readonly<Record<SpanTone, TextProps>> = {
  plain: {},
  title: { bold: true },
  good: { color: "green" },
  bad: { color: "red" },
  attention: { color: "yellow" },
  faint: { dimColor: true },
  key: { color: "cyan", bold: true },
  selected: { inverse: true },
  added: { color: "green" },
  removed: { color: "red" },
  hunk: { color: "cyan" }
}

const drawRow = (row: Row, index: number) =>
  createElement(
    Text,
    { key: index, wrap: "truncate" },
    row.length === 0 ? " " : row.map(({ text, tone }, n) => createElement(Text, { key: n, ...looks[tone] }, text))
  )

export const GateScreen = ({ onArrived, onDraw, store }: Props) => {
  const model = useSyncExternalStore(store.subscribe, store.get)
  const { setCursorPosition } = useCursor()
  useInsertionEffect(onDraw, [])
  useInput((input, key) => onArrived(arrived(input, key), model.current))
  usePaste((text) => onArrived({ _tag: "Pasted", text: pastedText(text) }, model.current))
  const { cursor, rows } = screenOf(model)
  setCursorPosition(cursor)
  return createElement(Box, { flexDirection: "column", height: model.size.rows }, rows.map(drawRow))
}
