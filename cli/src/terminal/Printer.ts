/** The one place that writes to the terminal: data on standard output, talk on standard error (protocol: The command line). */
import { writeSync } from "node:fs"
import picocolors from "picocolors"

const wantsColor = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb"

/** Colours for standard error, where people read. */
export const color = picocolors.createColors(wantsColor(process.stderr))
/** Colours for standard output, where data goes. */
export const dataColor = picocolors.createColors(wantsColor(process.stdout))

/** How wide the terminal is that data goes to; without one nothing is too wide. */
export const dataColumns = (): number => process.stdout.columns || Number.POSITIVE_INFINITY

const gone = new Set<number>()

/** Whether whoever read standard output has left, as `head` does: a command that only tells has nothing more to do. */
export const nobodyReads = (): boolean => gone.has(1)

// Synchronous, so that nothing is lost when the process ends right after; a reader that went away is not our failure.
const write = (fd: number, text: string): void => {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined
      if (code === "EAGAIN") continue
      if (code === "EPIPE") {
        gone.add(fd)
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
/** The answer to a query in `--json`. */
export const okJson = (value: unknown): void => json({ ok: true, data: value })
export const errorJson = (error: { code: string; message: string; hint: string }): void => json({ ok: false, error })

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Agent text made safe for a terminal: control sequences are shown, not obeyed (gate: text from agents is shown escaped). */
export const visible = (text: string): string =>
  text.replace(/\r\n/g, "\n").replace(control, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`)
