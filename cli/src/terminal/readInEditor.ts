/** Many lines of guidance, written in the user's own editor (gate: `e`). */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

/** As git does it: what the variable says may have arguments, so a shell reads it. */
const editor = (): string => process.env["VISUAL"] || process.env["EDITOR"] || "vi"

const edited = (file: string): Effect.Effect<number | null> =>
  Effect.callback((resume) => {
    // Standard output may be data that somebody reads: the editor draws where prompts are.
    const child = spawn("sh", ["-c", `${editor()} "$1"`, "sh", file], { stdio: [0, 2, 2] })
    child.on("error", () => resume(Effect.succeed(null)))
    child.on("close", (code) => resume(Effect.succeed(code)))
    return Effect.sync(() => child.kill())
  })

/** What was written, without blanks around it; undefined when the editor failed, or cannot be started. */
export const readInEditor: Effect.Effect<string | undefined> = Effect.acquireUseRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-guidance-"))),
  (folder) =>
    Effect.gen(function* () {
      const file = join(folder, "guidance.md")
      writeFileSync(file, "", { mode: 0o600 })
      return (yield* edited(file)) === 0 ? readFileSync(file, "utf8").trim() : undefined
    }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
