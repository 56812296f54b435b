/** Whether a program may draw on the whole terminal, and the keys that arrive there. */
import { PassThrough } from "node:stream"
import { Context, Effect } from "effect"
import { dropTyped } from "./discardTyped.ts"
import { isReadAloud } from "./readAloud.ts"

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** The size of the terminal that messages go to. */
export const screenSize = (): ScreenSize => {
  const { columns, rows } = process.stderr
  return { columns: columns || 80, rows: rows || 24 }
}

/** Less than this shows too little of a question. */
const smallest: ScreenSize = { columns: 30, rows: 10 }

/** Nobody wants lines instead: those who set NO_COLOR do, and readers of the screen, whose programs follow lines. */
const isFitForScreen = (): boolean => {
  const { env, stderr, stdin } = process
  if (stdin.isTTY !== true || stderr.isTTY !== true) return false
  if (!env["TERM"] || env["TERM"] === "dumb" || env["NO_COLOR"]) return false
  if (isReadAloud()) return false
  return (stderr.columns ?? 0) >= smallest.columns && (stderr.rows ?? 0) >= smallest.rows
}

/** Whether questions are asked line by line on every terminal: `--plain`. */
export const PlainQuestions = Context.Reference<boolean>("cli/PlainQuestions", { defaultValue: () => false })

/** Whether a question has the whole terminal. */
export const hasFullScreen: Effect.Effect<boolean> = Effect.map(PlainQuestions, (plain) => !plain && isFitForScreen())

/**
 * Standard input for a library that reads keys. Nothing comes through before `open`, which drops what was typed until
 * then and returns whether there was anything.
 */
export const screenKeys = () => {
  const { stdin } = process
  const keys = Object.assign(new PassThrough(), {
    isTTY: true as const,
    setRawMode: (raw: boolean) => stdin.setRawMode(raw),
    ref: () => undefined,
    unref: () => undefined
  })
  const onData = (bytes: Buffer) => keys.write(bytes)
  // Before anything is drawn, so that Ctrl-C is a key as soon as there is something to leave.
  stdin.setRawMode(true)
  return {
    keys,
    open: (): boolean => {
      const dropped = dropTyped()
      stdin.on("data", onData).resume()
      return dropped
    },
    close: (): void => {
      stdin.off("data", onData).pause()
      stdin.setRawMode(false)
    }
  }
}
