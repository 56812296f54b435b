/** Input from the terminal, one line at a time. */
import { createInterface } from "node:readline/promises"
import { Effect } from "effect"

/** Ctrl-C (`interrupt`) or end of input (`end`) leaves a question open (docs/design/gate.md#the-gate-where-humans-answer). */
export type Line =
  | { readonly _tag: "Line"; readonly text: string }
  | { readonly _tag: "Closed"; readonly by: "interrupt" | "end" }

/** Whether a human can be asked: prompts need a terminal at both ends. */
export const isInteractive = ({ json, noInput = false }: { readonly json: boolean; readonly noInput?: boolean }) =>
  process.stdin.isTTY === true && process.stderr.isTTY === true && !noInput && !json

/** Prompts on standard error and reads standard input. Interruption closes the prompt. */
export const readLine = (prompt: string): Effect.Effect<Line> =>
  Effect.callback<Line>((resume) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    let by: "interrupt" | "end" = "end"
    const onClose = () => resume(Effect.succeed({ _tag: "Closed", by }))
    terminal.on("SIGINT", () => {
      by = "interrupt"
      terminal.close()
    })
    terminal.on("close", onClose)
    terminal.question(prompt).then((text) => {
      terminal.off("close", onClose)
      terminal.close()
      resume(Effect.succeed({ _tag: "Line", text }))
    }, onClose)
    return Effect.sync(() => {
      terminal.off("close", onClose)
      terminal.close()
    })
  })

/** Whether a human says yes; anything else counts as no. */
export const readYes = (prompt: string): Effect.Effect<boolean> =>
  Effect.map(readLine(prompt), (line) => line._tag === "Line" && /^y(es)?$/i.test(line.text.trim()))
