/** Text of several lines, written in the user's editor. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

/** As in git, the variable may contain arguments, so a shell reads it. */
const editor = (): string => process.env["VISUAL"] || process.env["EDITOR"] || "vi"

const runEditor = (file: string): Effect.Effect<number | null> =>
  Effect.callback((resume) => {
    // Standard output may be piped to a program: the editor draws on standard error, where the prompts are.
    const child = spawn("sh", ["-c", `${editor()} "$1"`, "sh", file], { stdio: [0, 2, 2] })
    child.on("error", () => resume(Effect.succeed(null)))
    child.on("close", (code) => resume(Effect.succeed(code)))
    return Effect.sync(() => child.kill())
  })

/** The text, trimmed; undefined if the editor failed or could not be started. */
export const readInEditor: Effect.Effect<string | undefined> = Effect.acquireUseRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-guidance-"))),
  (folder) =>
    Effect.gen(function* () {
      const file = join(folder, "guidance.md")
      writeFileSync(file, "", { mode: 0o600 })
      return (yield* runEditor(file)) === 0 ? readFileSync(file, "utf8").trim() : undefined
    }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
