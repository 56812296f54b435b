/** The terminal keeps what is typed while nobody reads: the next prompt would take it for its answer. */
import { closeSync, constants, openSync, readSync } from "node:fs"

/** Reads until nothing is left, without waiting; returns whether there was anything. */
const emptyTerminal = (): boolean => {
  let terminal: number
  try {
    terminal = openSync("/dev/tty", constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return false
  }
  const typed = Buffer.alloc(4096)
  let any = false
  try {
    while (readSync(terminal, typed) > 0) any = true
  } catch {
    // EAGAIN: nothing is left.
  } finally {
    closeSync(terminal)
  }
  return any
}

/** Drops what was typed so far, in a terminal that is in raw mode already. Returns whether there was anything. */
export const dropTyped = (): boolean => {
  const { stdin } = process
  const kept = stdin.readableLength > 0 && stdin.read() !== null
  return emptyTerminal() || kept
}

/** The same in any mode; returns whether there was anything. */
export const discardTyped = (): boolean => {
  const { stdin } = process
  if (stdin.isTTY !== true) return false
  // In raw mode a line that is not complete can be read, too.
  stdin.setRawMode(true)
  const typed = dropTyped()
  stdin.setRawMode(false)
  return typed
}
