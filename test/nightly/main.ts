/**
 * `npm run nightly`: all that is too long for a landing, one after the other, with a table of figures at the end: hours.
 * `npm run nightly -- NAME …` runs one of its stages, with the options that follow.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { renderTable, type StageResult } from "./table.ts"

const repository = join(import.meta.dirname, "../..")

interface Stage {
  /** A program of Node's, and the words that it gets at night. */
  readonly program: string
  readonly words: ReadonlyArray<string>
}

const stages: Readonly<Record<string, Stage>> = {
  tests: { program: "test/run.ts", words: ["all"] },
  agents: { program: "test/run.ts", words: ["agents"] },
  "without-engine": { program: "test/run.ts", words: ["without-engine"] },
  cluster: { program: "test/run.ts", words: ["cluster"] },
  simulate: { program: "test/simulation/main.ts", words: ["--count", "10000"] },
  "broker-faults": { program: "test/brokerFaults/main.ts", words: ["--from", "1", "--count", "50"] },
  storm: { program: "test/storm/main.ts", words: ["--kills", "200"] },
  fuzz: { program: "test/fuzz/fuzz.ts", words: [] },
  mutants: { program: "house/src/mutate.ts", words: ["--sample", "40"] }
}

/** Shows what it prints, and keeps the last line. */
const runStage = (name: string, { program, words }: Stage): Promise<StageResult> =>
  new Promise((resolve) => {
    const begun = Date.now()
    let last = ""
    const child = spawn(process.execPath, [program, ...words], { cwd: repository, stdio: ["ignore", "pipe", "pipe"] })
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr]
    ] as const) {
      createInterface({ input: from }).on("line", (line) => {
        to.write(`${line}\n`)
        if (line.trim() !== "") last = line.trim()
      })
    }
    child.on("close", (code) => resolve({ name, code: code ?? 1, seconds: (Date.now() - begun) / 1000, last }))
  })

const [wanted, ...words] = process.argv.slice(2)
const one = wanted === undefined ? undefined : stages[wanted]
if (wanted !== undefined && one === undefined) {
  process.stderr.write(`There is no stage ${wanted}. There are: ${Object.keys(stages).join(", ")}.\n`)
  process.exit(2)
}
if (wanted !== undefined && one !== undefined) {
  const all = words.length === 0 ? one.words : [...(one.program === "test/run.ts" ? one.words : []), ...words]
  const child = spawn(process.execPath, [one.program, ...all], { cwd: repository, stdio: "inherit" })
  child.on("close", (code) => process.exit(code ?? 1))
} else {
  const results: Array<StageResult> = []
  for (const [name, stage] of Object.entries(stages)) {
    process.stdout.write(`\n## ${name}\n`)
    results.push(await runStage(name, stage))
  }
  process.stdout.write(`\n${renderTable(results)}`)
  process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1
}
