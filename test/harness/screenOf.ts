/** What a human sees of a command's output: the rows of a terminal of this size, with those that have scrolled away. */
import xterm from "@xterm/headless"
import { Effect } from "effect"

export interface Size {
  readonly columns: number
  readonly rows: number
}

export const screenOf = (output: string, { columns, rows }: Size): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true })
    terminal.write(output, () => {
      const { active } = terminal.buffer
      const lines = Array.from(
        { length: active.length },
        (_, row) => active.getLine(row)?.translateToString(true) ?? ""
      )
      terminal.dispose()
      const last = lines.findLastIndex((line) => line !== "")
      resume(Effect.succeed(lines.slice(0, last + 1)))
    })
  })
