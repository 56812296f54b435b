/** The terminal of a command as a human sees it now, and may give it another size. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import xterm from "@xterm/headless"
import { Effect, type Scope } from "effect"
import type { Command } from "./Command.ts"
import type { Size } from "./screenOf.ts"
import { waitUntil } from "./waitUntil.ts"

export interface Screen {
  /** The rows that are shown now. */
  readonly rows: Effect.Effect<ReadonlyArray<string>>
  /** Waits until the rows, as one text, match; gives the text. */
  readonly until: (pattern: RegExp) => Effect.Effect<string>
  /** Waits until nothing matches any more. */
  readonly untilGone: (pattern: RegExp) => Effect.Effect<string>
  readonly resize: (size: Size) => Effect.Effect<void>
}

/** The terminal of a process that was started by this one. */
const terminalOf = (pid: number): string | undefined => {
  for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean)) {
    for (const fd of readdirSync(`/proc/${child}/fd`)) {
      const path = readlinkSync(`/proc/${child}/fd/${fd}`)
      if (path.startsWith("/dev/pts/")) return path
    }
  }
  return undefined
}

export const watchScreen = (run: Command, { columns, rows: lines }: Size): Effect.Effect<Screen, never, Scope.Scope> =>
  Effect.gen(function* () {
    const terminal = yield* Effect.acquireRelease(
      Effect.sync(() => new xterm.Terminal({ cols: columns, rows: lines, scrollback: 10_000, allowProposedApi: true })),
      (open) => Effect.sync(() => open.dispose())
    )
    let drawn = 0
    const rows: Screen["rows"] = Effect.callback((resume) => {
      const news = run.stdout.slice(drawn)
      drawn = run.stdout.length
      terminal.write(news, () => {
        const { active } = terminal.buffer
        resume(
          Effect.succeed(
            Array.from(
              { length: terminal.rows },
              (_, row) => active.getLine(active.baseY + row)?.translateToString(true, 0, terminal.cols) ?? ""
            )
          )
        )
      })
    })
    const text = Effect.map(rows, (shown) => shown.join("\n").trimEnd())
    // A picture is written between two marks, and may arrive in pieces.
    const isWhole = () => run.stdout.lastIndexOf("\x1b[?2026h") <= run.stdout.lastIndexOf("\x1b[?2026l")
    const untilIt = (isWanted: (shown: string) => boolean) =>
      waitUntil(Effect.map(text, (shown) => (isWhole() && isWanted(shown) ? shown : undefined)))
    return {
      rows: Effect.map(
        untilIt(() => true),
        (shown) => shown.split("\n")
      ),
      until: (pattern) => untilIt((shown) => pattern.test(shown)),
      untilGone: (pattern) => untilIt((shown) => !pattern.test(shown)),
      resize: (size) =>
        Effect.sync(() => {
          const path = terminalOf(run.pid) ?? ""
          terminal.resize(size.columns, size.rows)
          execFileSync("stty", ["-F", path, "cols", `${size.columns}`, "rows", `${size.rows}`])
        })
    }
  })
