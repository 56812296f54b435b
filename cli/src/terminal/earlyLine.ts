/**
 * A first sign on the terminal, before the command's modules are loaded, which takes longer than a blank screen is
 * comfortable. Imports next to nothing, so that it is there at once.
 */
import { isReadAloud } from "./readAloud.ts"

const text = "Starting …"

/** Commands that take a moment before their first line. */
const slow: ReadonlySet<string> = new Set(["run", "up", "watch", "demo", "doctor"])

/** Flags with which a command prints something else, or nothing. */
const others: ReadonlySet<string> = new Set(["--help", "-h", "--version", "--json", "--quiet", "-q"])

/** Whether these arguments call a command that takes a moment. */
export const isSlow = (args: ReadonlyArray<string>): boolean => {
  const [command = "", subcommand] = args
  if (args.some((argument) => others.has(argument))) return false
  return slow.has(command) || (command === "sessions" && subcommand === "start")
}

let shown = false

export const showEarlyLine = (args: ReadonlyArray<string>): void => {
  const { stderr } = process
  if (stderr.isTTY !== true || process.env["TERM"] === "dumb" || isReadAloud() || !isSlow(args)) return
  shown = true
  stderr.write(text)
}

/** The columns that the line takes, if it was shown: whoever writes to the terminal next replaces it. */
export const earlyColumns = (): ReadonlyArray<number> => (shown ? [text.length] : [])
