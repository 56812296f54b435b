/**
 * Prints the end of CI: what was skipped for time, what failed and why, then the closing line. It counts every test,
 * and one more for each stage; the arguments are the stages with their exit codes, `test=0`.
 */
import { existsSync, readFileSync } from "node:fs"
import { relative } from "node:path"

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly status: string
      readonly fullName: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}

const none: Report = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, testResults: [] }
const read = (path: string): Report => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : none)
const suite = read("coverage/tests.json")
const withoutEngine = read("coverage/testsWithoutEngine.json")
const reports = [suite, withoutEngine, read("coverage/cluster.json"), read("coverage/agents.json")]

const firstLines = (text: string): string => text.slice(0, 3_000).split("\n").slice(0, 12).join("\n  ")
const failures = reports
  .flatMap(({ testResults }) => testResults)
  .flatMap((file) => {
    const path = relative(".", file.name)
    const tests = file.assertionResults.filter((test) => test.status === "failed")
    // A file that could not be loaded has failed without a failed test.
    if (file.status === "failed" && tests.length === 0) return [`${path}\n  ${firstLines(file.message)}`]
    return tests.map((test) => `${path} > ${test.fullName}\n  ${test.failureMessages.map(firstLines).join("\n  ")}`)
  })

const outOfTime = "coverage/outOfTime.txt"
if (existsSync(outOfTime)) {
  const files = readFileSync(outOfTime, "utf8")
    .trimEnd()
    .split("\n")
    .map((test) => test.slice(0, test.indexOf(" > ")))
  process.stdout.write("This machine was too slow for all tests. Skipped:\n")
  for (const file of new Set(files))
    process.stdout.write(`  ${files.filter((other) => other === file).length} of ${file}\n`)
}

const stages = process.argv.slice(2).map((argument) => argument.split("="))
const failedStages = stages.filter(([, code]) => code !== "0").map(([name, code]) => `${name} ended with ${code}`)
for (const failure of [...failures, ...failedStages]) process.stdout.write(`failed: ${failure}\n`)

const total = (count: "numPassedTests" | "numFailedTests" | "numPendingTests"): number =>
  reports.reduce((sum, report) => sum + report[count], 0)
const passed = total("numPassedTests") + stages.length - failedStages.length
const failed = total("numFailedTests") + failedStages.length
process.stdout.write(`${passed} passed, ${failed} failed, ${total("numPendingTests")} skipped\n`)
// A suite that did not run at all must not look like one that passed.
process.exitCode = failed === 0 && suite.numPassedTests > 0 && withoutEngine.numPendingTests > 0 ? 0 : 1
