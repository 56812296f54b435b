/** The start-up time of a command, compared with Node's own. */
import { spawnSync } from "node:child_process"
import { performance } from "node:perf_hooks"

const launcher = new URL("../../cli/bin/reprise.js", import.meta.url).pathname
const rounds = 11

const milliseconds = (args: ReadonlyArray<string>): number => {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, [...args], { stdio: "ignore" })
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`)
  return performance.now() - started
}

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export const startUp = async (): Promise<void> => {
  const cases: Readonly<Record<string, ReadonlyArray<string>>> = {
    "node --eval ''": ["--eval", ""],
    "reprise --help": [launcher, "--help"],
    "reprise --version": [launcher, "--version"]
  }
  const floor = median(Array.from({ length: rounds }, () => milliseconds(["--eval", ""])))
  for (const [name, args] of Object.entries(cases)) {
    milliseconds(args)
    const measured = median(Array.from({ length: rounds }, () => milliseconds(args)))
    process.stdout.write(`${name}: ${measured.toFixed(0)} ms, ${(measured / floor).toFixed(1)} × the start of node\n`)
  }
}
