/** The only module that writes to the terminal: data to standard output, messages to standard error. */
import { writeSync } from "node:fs"
import picocolors from "picocolors"
import { earlyColumns } from "./earlyLine.ts"
import { isReadAloud } from "./readAloud.ts"
import { visibleJson } from "./visible.ts"

const wantsColor = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb"

/** Colours for standard error. */
export const color = picocolors.createColors(wantsColor(process.stderr))
/** Colours for standard output. */
export const dataColor = picocolors.createColors(wantsColor(process.stdout))

/** Columns of the terminal that standard output goes to; unlimited without a terminal. */
export const dataColumns = (): number => process.stdout.columns || Number.POSITIVE_INFINITY

/** Whether a person reads standard output, not a file or a program. */
export const isForPeople = (): boolean => process.stdout.isTTY === true

const isAtTerminal = process.stdout.isTTY === true || process.stderr.isTTY === true

/** For a terminal alone: its tables of what is how wide take a sixth of what `--version` takes. */
const { wrapProse } = isAtTerminal ? await import("./wrapProse.ts") : { wrapProse: (text: string) => text }

const closedPipes = new Set<number>()

/** Whether the reader of standard output has gone, as `head` does: then a command that only prints can end. */
export const readerHasGone = (): boolean => closedPipes.has(1)

/** What was printed while another program has the terminal. */
let held: Array<() => void> | undefined

/** How many have the terminal for themselves: the full-screen gate, and an editor that it opened. */
let holders = 0

/** From now on another program draws on the terminal: what is printed there waits for the returned function. */
export const holdTerminal = (): (() => void) => {
  held ??= []
  holders += 1
  return () => {
    holders -= 1
    if (holders > 0) return
    const waiting = held ?? []
    held = undefined
    for (const print of waiting) print()
  }
}

const isTerminal = (fd: number): boolean => (fd === 1 ? process.stdout : process.stderr).isTTY === true

/** A line at the bottom of the terminal, and how many columns it takes. */
export interface PinnedLine {
  readonly text: string
  readonly columns: number
}

let pinned: ReadonlyArray<PinnedLine> = []
/** The columns of each line that is drawn at the bottom now. */
let drawn: ReadonlyArray<number> = earlyColumns()
/** A prompt has the bottom of the terminal. */
let prompting = false

/** Whether lines can be kept at the bottom of the terminal and redrawn there. */
export const canPin = (): boolean => isTerminalForPeople() && !isReadAloud()

const isTerminalForPeople = (): boolean => process.stderr.isTTY === true && process.env["TERM"] !== "dumb"

/** Columns of the terminal that messages go to. */
export const columns = (): number => process.stderr.columns || 80

/** Goes back over the drawn lines. A terminal that became narrower shows them in more rows. */
const erasing = (): string => {
  if (drawn.length === 0) return ""
  const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line / columns())), 0)
  drawn = []
  return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ""}\x1b[J`
}

const drawing = (): string => {
  if (prompting) return ""
  drawn = pinned.map((line) => line.columns)
  return pinned.map(({ text }) => text).join("\n")
}

/** Shows these lines below everything else, instead of those that are there. None: the bottom is free again. */
export const pin = (lines: ReadonlyArray<PinnedLine>): void => {
  pinned = canPin() ? lines : []
  if (held === undefined && (drawn.length > 0 || pinned.length > 0)) writeNow(2, erasing() + drawing())
}

/** A prompt takes the bottom of the terminal until the returned function is called. */
export const freeBottom = (): (() => void) => {
  prompting = true
  pin(pinned)
  return () => {
    prompting = false
    pin(pinned)
  }
}

// However the process ends, its last line is the last line.
process.on("exit", () => pin([]))

/** Makes the terminal call its human. */
export const ring = (): void => {
  if (isTerminalForPeople()) write(2, "\x07")
}

const write = (fd: number, text: string): void => {
  if (!isTerminal(fd)) writeNow(fd, text)
  else if (held !== undefined) held.push(() => write(fd, text))
  else writeNow(fd, erasing() + text + drawing())
}

// Synchronous, so that nothing is lost if the process ends right after. A reader that has gone is not our failure.
const writeNow = (fd: number, text: string): void => {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined
      if (code === "EAGAIN") continue
      if (code === "EPIPE") {
        closedPipes.add(fd)
        return
      }
      throw error
    }
  }
}

/** A line of data as it is, whoever reads it. */
export const rawData = (line: string): void => write(1, `${line}\n`)
/** A line of data; where a person reads it, long lines are broken between words. */
export const data = (line: string): void => rawData(wrapProse(line, dataColumns()))
/** A line for people, broken between words where the terminal says how wide it is. */
export const say = (line: string): void =>
  write(2, `${wrapProse(line, (process.stderr.isTTY && process.stderr.columns) || Number.POSITIVE_INFINITY)}\n`)

/** One object or event per line. */
export const json = (value: unknown): void => rawData(visibleJson(JSON.stringify(value)))
/** The result of a command under `--json`. */
export const okJson = (value: unknown): void => json({ ok: true, data: value })
export const errorJson = (error: { code: string; message: string; hint: string }): void => json({ ok: false, error })
