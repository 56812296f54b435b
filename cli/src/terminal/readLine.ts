/** One line from the terminal; ends early when the question is gone. */
import { createInterface } from "node:readline/promises"
import { Effect } from "effect"

/** Ctrl-C (`interrupt`) or end of input (`end`) leave a question open and park the run (gate). */
export type Line =
  | { readonly _tag: "Line"; readonly text: string }
  | { readonly _tag: "Left"; readonly how: "interrupt" | "end" }

/** Asks on standard error, reads standard input. Interruption closes the prompt. */
export const readLine = (prompt: string): Effect.Effect<Line> =>
  Effect.callback<Line>((resume) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    let how: "interrupt" | "end" = "end"
    const leave = () => resume(Effect.succeed({ _tag: "Left", how }))
    terminal.on("SIGINT", () => {
      how = "interrupt"
      terminal.close()
    })
    terminal.on("close", leave)
    terminal.question(prompt).then((text) => {
      terminal.off("close", leave)
      terminal.close()
      resume(Effect.succeed({ _tag: "Line", text }))
    }, leave)
    return Effect.sync(() => {
      terminal.off("close", leave)
      terminal.close()
    })
  })
