/** The only module that writes to the terminal: data to standard output, messages to standard error. */
import { writeSync } from "node:fs"
import picocolors from "picocolors"

const wantsColor = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb"

/** Colours for standard error. */
export const color = picocolors.createColors(wantsColor(process.stderr))
/** Colours for standard output. */
export const dataColor = picocolors.createColors(wantsColor(process.stdout))

/** Columns of the terminal that standard output goes to; unlimited without a terminal. */
export const dataColumns = (): number => process.stdout.columns || Number.POSITIVE_INFINITY

const closedPipes = new Set<number>()

/** Whether the reader of standard output has gone, as `head` does: then a command that only prints can end. */
export const readerHasGone = (): boolean => closedPipes.has(1)

/** What was printed while another program has the terminal. */
let held: Array<() => void> | undefined

/** From now on another program draws on the terminal: what is printed there waits for the returned function. */
export const holdTerminal = (): (() => void) => {
  held ??= []
  return () => {
    const waiting = held ?? []
    held = undefined
    for (const print of waiting) print()
  }
}

const isTerminal = (fd: number): boolean => (fd === 1 ? process.stdout : process.stderr).isTTY === true

// Synchronous, so that nothing is lost if the process ends right after. A reader that has gone is not our failure.
const write = (fd: number, text: string): void => {
  if (held !== undefined && isTerminal(fd)) {
    held.push(() => write(fd, text))
    return
  }
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

/** A line of data. */
export const data = (line: string): void => write(1, `${line}\n`)
/** A line for people. */
export const say = (line: string): void => write(2, `${line}\n`)

/** One object or event per line. */
export const json = (value: unknown): void => data(JSON.stringify(value))
/** The result of a command under `--json`. */
export const okJson = (value: unknown): void => json({ ok: true, data: value })
export const errorJson = (error: { code: string; message: string; hint: string }): void => json({ ok: false, error })
