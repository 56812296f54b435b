/**
 * `npm run record:outputs`: plays the demo, calls the commands whose outputs the guide shows in its repository, and writes
 * the outputs into the guide. `demo.e2e.test.ts` compares them.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { launcher } from "../harness/Command.ts"
import { commandsIn, questionPlaceholder, withOutputs } from "./outputs.ts"

const guide = new URL("../../docs/guide.md", import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), "reprise-outputs-"))

const reprise = (directory: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, [launcher, ...args], {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"]
  })

try {
  reprise(folder, "demo", "--no-input", "--directory", join(folder, "demo"))
  const repository = join(folder, "demo", "greeter")
  const [run] = JSON.parse(reprise(repository, "status", "--json")).data
  const page = readFileSync(guide, "utf8")
  const called = commandsIn(page).map((command) => {
    const words = command.replace(questionPlaceholder, `${run.runId}-e1`).split(" ")
    return [command, reprise(repository, ...words)] as const
  })
  writeFileSync(guide, withOutputs(page, new Map(called)))
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
