/** Input from the terminal, one answer at a time. What was typed before a prompt was shown never answers it. */
import { createInterface } from "node:readline/promises"
import { PassThrough } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { Effect } from "effect"
import { discardTyped } from "./discardTyped.ts"
import { PastedText } from "./PastedText.ts"
import { color, freeBottom, say } from "./Printer.ts"

/** Ctrl-C (`interrupt`) or end of input (`end`) leaves a question open (docs/design/gate.md#the-gate-where-humans-answer). */
export type Line =
  | { readonly _tag: "Line"; readonly text: string }
  | { readonly _tag: "Closed"; readonly by: "interrupt" | "end" }

/** Whether a human can be asked: prompts need a terminal at both ends. */
export const isInteractive = ({ json, noInput = false }: { readonly json: boolean; readonly noInput?: boolean }) =>
  process.stdin.isTTY === true && process.stderr.isTTY === true && !noInput && !json

/** How long the rest of a text of several lines may take to arrive, in terminals that do not mark what is pasted. */
const pasteGapMs = 50

/** The keys that arrive from now on, for a line editor, which sets the terminal's mode. */
const openKeys = (pasted: PastedText) => {
  const decoder = new StringDecoder("utf8")
  let releasing: NodeJS.Timeout | undefined
  const keys = Object.assign(new PassThrough(), {
    setRawMode: (raw: boolean) => {
      if (process.stdin.isTTY === true) process.stdin.setRawMode(raw)
    }
  })
  const onData = (bytes: Buffer) => {
    clearTimeout(releasing)
    keys.write(pasted.read(decoder.write(bytes)))
    if (pasted.holdsLineEnd) releasing = setTimeout(() => keys.write(pasted.release()), pasteGapMs)
  }
  const onEnd = () => keys.end()
  process.stdin.on("data", onData).on("end", onEnd).resume()
  const close = () => {
    clearTimeout(releasing)
    process.stdin.off("data", onData).off("end", onEnd).pause()
  }
  return { keys, close }
}

/** Asks the terminal to mark what is pasted. */
const marksPastes = (): boolean => process.stderr.isTTY === true && process.env["TERM"] !== "dumb"

/**
 * Prompts on standard error and reads standard input. The text may have several lines if it was pasted. Interruption
 * closes the prompt.
 */
export const readLine = (prompt: string): Effect.Effect<Line> =>
  Effect.callback<Line>((resume) => {
    if (discardTyped()) say(color.dim("What you typed before this prompt was shown is ignored."))
    const pasted = new PastedText()
    const giveBack = freeBottom()
    const input = openKeys(pasted)
    const terminal = createInterface({
      input: input.keys,
      output: process.stderr,
      terminal: process.stderr.isTTY === true
    })
    if (marksPastes()) process.stderr.write("\x1b[?2004h")
    let line: Line = { _tag: "Closed", by: "end" }
    terminal.on("close", () => {
      if (marksPastes()) process.stderr.write("\x1b[?2004l")
      input.close()
      giveBack()
      // Last: the next prompt may open at once.
      resume(Effect.succeed(line))
    })
    terminal.on("SIGINT", () => {
      line = { _tag: "Closed", by: "interrupt" }
      terminal.close()
    })
    terminal.question(prompt).then(
      (text) => {
        line = { _tag: "Line", text: pasted.expand(text) }
        terminal.close()
      },
      () => terminal.close()
    )
    return Effect.sync(() => terminal.close())
  })

/** Whether a human says yes; anything else counts as no. */
export const saysYes = (line: Line): boolean => line._tag === "Line" && /^y(es)?$/i.test(line.text.trim())

/** Ctrl-C at a prompt that nothing else stands behind: the command ends as if it had got the signal. */
const interrupted = Effect.andThen(
  Effect.sync(() => say("")),
  Effect.interrupt
)

/** Whether a human says yes; anything else counts as no. Ctrl-C ends the command. */
export const readYes = (prompt: string): Effect.Effect<boolean> =>
  Effect.flatMap(readLine(prompt), (line) =>
    line._tag === "Closed" && line.by === "interrupt" ? interrupted : Effect.succeed(saysYes(line))
  )
