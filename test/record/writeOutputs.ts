/**
 * `npm run record:outputs`: plays the demo, calls the commands whose outputs the guide shows in its repository, and writes
 * the outputs into the guide. `demo.e2e.test.ts` compares them.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { launcher } from "../harness/Command.ts"
import { recordedOutputs, withOutputs } from "./outputs.ts"

const guide = new URL("../../docs/guide.md", import.meta.url).pathname
const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-outputs-")))

const reprise = (directory: string, ...args: ReadonlyArray<string>) => {
  const called = spawnSync(process.execPath, [launcher, ...args], { cwd: directory, encoding: "utf8" })
  if (called.status !== 0) throw new Error(`reprise ${args.join(" ")}: ${called.stdout}${called.stderr}`)
  return called
}

try {
  reprise(folder, "demo", "--no-input", "--directory", join(folder, "demo"))
  const demo = join(folder, "demo", "greeter")
  const [run] = JSON.parse(reprise(demo, "status", "--json").stdout).data
  const page = readFileSync(guide, "utf8")
  const outputs = await recordedOutputs(page, {
    demo,
    runId: run.runId,
    folder,
    call: (directory, words) => {
      const { stderr, stdout } = reprise(directory, ...words)
      return Promise.resolve(stdout + stderr)
    }
  })
  writeFileSync(guide, withOutputs(page, outputs))
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
