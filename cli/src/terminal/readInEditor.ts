/** Text of several lines, written in the user's editor. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit } from "effect"
import { holdTerminal, say } from "./Printer.ts"

/** As in git, the variable may contain arguments, so a shell reads it. */
const editor = (): string => process.env["VISUAL"] || process.env["EDITOR"] || "vi"

/**
 * The editor takes the shell's place, so that a signal reaches it: a shell would end alone, and leave the terminal to the
 * editor. That is not possible for several commands.
 */
const script = (): string => (/[;&|(){}]/.test(editor()) ? `${editor()} "$1"` : `exec env ${editor()} "$1"`)

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Returns the editor's exit code once it has left the terminal, whatever happens to the question meanwhile. Only a
 * signal that ends this command ends the editor, too.
 */
const runEditor = (file: string): Effect.Effect<number | null> =>
  Effect.uninterruptible(
    Effect.callback((resume) => {
      const giveBack = holdTerminal()
      // Standard output may be piped to a program: the editor draws on standard error, where the prompts are.
      const child = spawn("/bin/sh", ["-c", script(), "sh", file], { stdio: [0, 2, 2] })
      const end = () => child.kill()
      for (const signal of endings) process.on(signal, end)
      const ended = (code: number | null) => {
        for (const signal of endings) process.off(signal, end)
        giveBack()
        resume(Effect.succeed(code))
      }
      child.on("error", () => ended(null))
      child.on("close", ended)
    })
  )

const textIn = (file: string): string => readFileSync(file, "utf8").trim()

/**
 * The text, trimmed, that the human made of the given one; undefined if the editor failed or could not be started. Text
 * that nobody wants any more is kept.
 */
export const readInEditor = (given: string): Effect.Effect<string | undefined> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "reprise-guidance-"))
      const file = join(folder, "guidance.md")
      writeFileSync(file, given, { mode: 0o600 })
      return { folder, file }
    }),
    ({ file }) => Effect.map(runEditor(file), (code) => (code === 0 ? textIn(file) : undefined)),
    ({ file, folder }, exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit) && textIn(file) !== "") return say(`What you wrote was not sent; it is in ${file}.`)
        rmSync(folder, { recursive: true, force: true })
      })
  )
