/** The lines at the bottom of the terminal: what is under way, for how long, and what it has used. Pure. */
import { uncachedTokens } from "@reprise/protocol"
import stringWidth from "string-width"
import type { PinnedLine } from "../../terminal/Printer.ts"
import { visibleLine } from "../../terminal/visible.ts"
import { clipEnd, clipStart, prose } from "./fitText.ts"
import type { LiveModel, LiveRun } from "./LiveModel.ts"

export interface Surface {
  readonly nowMs: number
  /** Of the terminal. */
  readonly columns: number
  /** Several runs may be shown: each line names its own. */
  readonly everyRun: boolean
  /** What the command does while no run is active. */
  readonly idle: string
  readonly faint: (text: string) => string
  readonly attention: (text: string) => string
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const frameMs = 200

const frame = (nowMs: number): string => frames[Math.floor(nowMs / frameMs) % frames.length] ?? ""

const two = (n: number): string => `${n}`.padStart(2, "0")

/** `0:42`, `12:03`, `1:02:03`. A clock that was set back shows nothing negative. */
export const clock = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

const thousands = (n: number): string => {
  if (n < 1000) return `${n}`
  return n < 1_000_000 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`
}

const contextText = ({ context }: LiveRun): ReadonlyArray<string> => {
  if (context === undefined) return []
  const { limit, tokens } = context
  return [limit === undefined ? `context ${thousands(tokens)}` : `context ${Math.round((tokens / limit) * 100)} %`]
}

const used = (run: LiveRun): ReadonlyArray<string> => {
  const tokens = uncachedTokens(run.tokens) + (run.turn === undefined ? 0 : uncachedTokens(run.turn.tokens))
  const cost = run.cost + (run.turn?.cost ?? 0)
  return [
    ...(tokens === 0 ? [] : [`${thousands(tokens)} tokens`]),
    ...contextText(run),
    ...(cost === 0 ? [] : [`$${cost.toFixed(2)}`])
  ]
}

/** What a tool is shown with beside everything else. */
const longestTool = 40

const underWay = ({ awaited, turn }: LiveRun, nowMs: number): ReadonlyArray<string> => {
  if (awaited?.untilMs !== undefined) {
    const left = awaited.untilMs - nowMs
    return [left <= 0 ? `${awaited.text}, trying again` : `${awaited.text}, again in ${clock(left + 999)}`]
  }
  if (awaited !== undefined) return [awaited.text]
  if (turn?.tool === undefined) return []
  const text = clipEnd(visibleLine(turn.tool.text), longestTool)
  return [`${text} ${clock(nowMs - turn.tool.sinceMs)}`]
}

const separator = " · "

/** As many of the parts as fit; the first is cut if even it does not. */
const fitting = (parts: ReadonlyArray<string>, columns: number): string => {
  const [first = "", ...rest] = parts
  let line = clipEnd(first, columns)
  for (const part of rest) {
    const longer = `${line}${separator}${part}`
    if (stringWidth(longer) <= columns) line = longer
  }
  return line
}

const pinnedLine = (text: string, shown = text): PinnedLine => ({ text: shown, columns: stringWidth(text) })

const runLine = (run: LiveRun, { everyRun, nowMs }: Surface, columns: number): string => {
  const name = everyRun ? `${run.runId} ` : ""
  return `${frame(nowMs)} ${fitting(
    [`${name}${run.doing}`, clock(nowMs - run.sinceMs), ...underWay(run, nowMs), ...used(run)],
    columns - 2
  )}`
}

/** The newest words, as much of them as fits on a line. */
const wordsLine = ({ turn }: LiveRun, { columns, faint }: Surface): ReadonlyArray<PinnedLine> => {
  const { writing } = turn ?? {}
  const words = prose(writing?.end ?? "")
  if (writing === undefined || words === "") return []
  const about = writing.kind === "reasoning" ? "thinking: " : ""
  const text = `    | ${about}${clipStart(visibleLine(words), columns - 7 - about.length)}`
  return [pinnedLine(text, faint(text))]
}

/** More runs than this are counted. */
const mostRuns = 4

/** After its only run has ended, a command saves the conversations and stops what it has started. */
const idleParts = ({ endedMs, startedMs }: LiveModel, { everyRun, idle, nowMs }: Surface): ReadonlyArray<string> =>
  endedMs === undefined || everyRun ? [idle, clock(nowMs - startedMs)] : ["Finishing", clock(nowMs - endedMs)]

const stepsLine = (model: LiveModel, surface: Surface): string => {
  const { steps } = model
  const { columns, nowMs } = surface
  const first = steps.length === 0 ? idleParts(model, surface) : []
  const tenths = (sinceMs: number) => `${((nowMs - sinceMs) / 1000).toFixed(1)} s`
  const parts = steps.map(({ name, sinceMs }) => `${name} … ${tenths(sinceMs)}`)
  return `${frame(nowMs)} ${fitting([...first, ...parts], columns - 2)}`
}

/** The key that opens the gate. */
export const answerKey = "g"

const askedLine = ({ asked = [] }: LiveModel, { attention, columns }: Surface): ReadonlyArray<PinnedLine> => {
  if (asked.length === 0) return []
  const what = asked.length === 1 ? "the open question" : `${asked.length} open questions`
  const text = clipEnd(`${answerKey} = answer ${what}`, columns)
  return [pinnedLine(text, attention(text))]
}

/** No line reaches the last column, where terminals differ. */
export const statusLines = (model: LiveModel, given: Surface): ReadonlyArray<PinnedLine> => {
  const columns = Math.max(8, given.columns - 1)
  return [...workLines(model, given, columns), ...askedLine(model, { ...given, columns })]
}

const workLines = (model: LiveModel, surface: Surface, columns: number): ReadonlyArray<PinnedLine> => {
  const { runs } = model
  if (runs.length === 0) return [pinnedLine(stepsLine(model, { ...surface, columns }))]
  const shown = runs.slice(-mostRuns)
  const lines = shown.flatMap((run) => [
    ...(runs.length === 1 ? wordsLine(run, { ...surface, columns: surface.columns }) : []),
    pinnedLine(runLine(run, surface, columns))
  ])
  const more = runs.length - shown.length
  return more === 0 ? lines : [...lines, pinnedLine(clipEnd(`  and ${more} more`, columns))]
}
