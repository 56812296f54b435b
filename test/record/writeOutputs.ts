/**
 * `npm run record -- outputs`: plays the demo, calls the commands whose outputs documents show in its repository, and writes
 * the outputs into the documents. `demo.e2e.test.ts` compares them.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { launcher } from "../harness/Command.ts"
import { pagesWithOutputs, recordedOutputs, withOutputs } from "./outputs.ts"
import { shownRunOutput } from "./shownRun.ts"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-outputs-")))

const reprise = (directory: string, ...args: ReadonlyArray<string>) => {
  const called = spawnSync(process.execPath, [launcher, ...args], { cwd: directory, encoding: "utf8" })
  if (called.status !== 0) throw new Error(`reprise ${args.join(" ")}: ${called.stdout}${called.stderr}`)
  return called
}

try {
  const { stderr, stdout } = reprise(folder, "demo", "--no-input", "--directory", join(folder, "demo"))
  const demo = join(folder, "demo", "greeter")
  const [run] = JSON.parse(reprise(demo, "status", "--json").stdout).data
  const called = new Map([
    ["demo --no-input", { directory: demo, output: stderr + stdout }],
    ["run PLAN.md", await Effect.runPromise(shownRunOutput)]
  ])
  for (const path of pagesWithOutputs) {
    const page = readFileSync(path, "utf8")
    const call = (directory: string, words: ReadonlyArray<string>) => {
      const ended = reprise(directory, ...words)
      return Promise.resolve(ended.stdout + ended.stderr)
    }
    const outputs = await recordedOutputs(page, { called, demo, runId: run.runId, folder, call })
    writeFileSync(path, withOutputs(page, outputs))
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
