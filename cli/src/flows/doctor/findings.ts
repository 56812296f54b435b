/** What the checks of `reprise doctor` found, as data and as a table. */
import { dataColor, dataColumns } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { table } from "../../views/table.ts"

export interface Finding {
  readonly check: string
  readonly state: "ok" | "warning" | "broken"
  readonly detail: string
  /** The next step; absent if the state is ok. */
  readonly next?: string
}

export const ok = (check: string, detail: string): Finding => ({ check, state: "ok", detail })
export const warning = (check: string, detail: string, next: string): Finding => ({
  check,
  state: "warning",
  detail,
  next
})
export const broken = (check: string, detail: string, next: string): Finding => ({
  check,
  state: "broken",
  detail,
  next
})

/** Longer lines are hard to read. */
const widest = 120

const marks = { ok: dataColor.green("ok"), warning: dataColor.yellow("warning"), broken: dataColor.red("broken") }

export const findingsTable = (findings: ReadonlyArray<Finding>): string =>
  table(
    ["what", "", "found"],
    findings.map(({ check, detail, next, state }) => [
      check,
      marks[state],
      visible(next === undefined ? detail : `${detail}\n→ ${next}`)
    ]),
    Math.min(dataColumns(), widest)
  )
