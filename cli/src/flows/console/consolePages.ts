/**
 * The built pages of the web console. The package brings them along. In a clone they are built when they are first needed
 * and after every change (docs/decisions/0029-a-web-console.md).
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { runProgram } from "@reprise/process"
import { Effect } from "effect"
import { missing } from "../../terminal/CliFailure.ts"
import { showingStep } from "../../views/live/Display.ts"

const workspace = fileURLToPath(new URL("../../../../console/", import.meta.url))

const notBuilt = (detail: string) =>
  missing("console-pages", `The pages of the web console cannot be built: ${detail}`, "Run 'npm ci' again, then this.")

/** Prints the folder of the pages, built if they were not. */
const buildPages = (script: string) =>
  runProgram({
    program: process.execPath,
    args: [script],
    environment: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" },
    timeoutMs: 10 * 60_000
  }).pipe(
    Effect.mapError(({ message }) => notBuilt(message)),
    Effect.flatMap(({ exitCode, stderr, stdout }) =>
      exitCode === 0 ? Effect.succeed(stdout.trim()) : Effect.fail(notBuilt(stderr.trim().slice(-500)))
    )
  )

/** The folder of the built pages. */
export const consolePages = Effect.fn("consolePages")(function* () {
  const script = join(workspace, "build", "main.ts")
  if (existsSync(script)) return yield* buildPages(script).pipe(showingStep("Preparing the web console"))
  const folder = join(workspace, "dist")
  if (existsSync(join(folder, "index.html"))) return folder
  return yield* missing("console-pages", "The pages of the web console are missing.", "Install Reprise again.")
})
