/**
 * Loaded into a process of a benchmark by `--import`: writes down, ten times a second, the time and the longest block of the
 * event loop since then. `REPRISE_BENCH_LOOP` names the file.
 */
import { appendFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"

const file = process.env["REPRISE_BENCH_LOOP"]
// Every process of the benchmark's world loads this; the one that serves the console counts.
if (file !== undefined && process.argv.includes("--web")) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  setInterval(() => {
    appendFileSync(file, `${Date.now()} ${delay.max / 1e6}\n`)
    delay.reset()
  }, 100).unref()
}
