/** What the end of CI says, from the stages that ran and the reports that they left. */
import { stagesInTurn } from "./landing.ts"

/** A stage that ran: `code` is its exit code. */
export interface Stage {
  readonly name: string
  readonly code: number
  readonly seconds: number
}

/** What vitest's reporter `json` writes, as far as it is read. */
export interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: ReadonlyArray<{
    /** An absolute path. */
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

/**
 * The stages that leave a report, and what it must tell. A stage that ran nothing must not look like one that passed.
 * Without an engine every test is skipped: of the stage that is to show that, and on such a machine of the cluster, too.
 */
const showed: Readonly<Record<string, (report: Report) => boolean>> = {
  all: ({ numPassedTests }) => numPassedTests > 0,
  "without-engine": ({ numPendingTests }) => numPendingTests > 0,
  cluster: ({ numPassedTests, numPendingTests }) => numPassedTests + numPendingTests > 0,
  agents: ({ numPassedTests }) => numPassedTests > 0
}

/** The exit code of `timeout` for a stage that it ended. */
const endedByTimeout = 124

/** `name=code,seconds` */
export const stageOf = (argument: string): Stage => {
  const [, name = argument, code, seconds] = /^(.+)=(\d+),(\d+)$/.exec(argument) ?? []
  if (code === undefined) throw new Error(`'${argument}' is not a stage: it must be name=code,seconds.`)
  return { name, code: Number(code), seconds: Number(seconds) }
}

const firstLines = (text: string): string => text.slice(0, 3_000).split("\n").slice(0, 12).join("\n  ")

const failedTests = ({ testResults }: Report, shownPath: (path: string) => string): ReadonlyArray<string> =>
  testResults.flatMap((file) => {
    const path = shownPath(file.name)
    const tests = file.assertionResults.filter((test) => test.status === "failed")
    // A file that could not be loaded has failed without a failed test.
    if (file.status === "failed" && tests.length === 0) return [`${path}\n  ${firstLines(file.message)}`]
    return tests.map((test) => `${path} > ${test.fullName}\n  ${test.failureMessages.map(firstLines).join("\n  ")}`)
  })

/** Why a stage failed; undefined: it did not. */
const failureOf = ({ code, name, seconds }: Stage, report: Report | undefined): string | undefined => {
  if (code === endedByTimeout) return `${name} was ended after ${seconds} s, since the time of CI was over`
  if (code !== 0) return `${name} ended with ${code}`
  const isShown = showed[name]
  if (isShown === undefined || (report !== undefined && isShown(report))) return undefined
  return `${name} ended with 0, but coverage/${name}.json does not say that it ran a test`
}

const duration = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`.padStart(6)

/**
 * The lines at the end of CI, of which the last counts every test, and one more for each stage; and whether all is well.
 * `reportIn` reads a report of the folder `coverage`; undefined: there is none.
 */
export const closingOf = (
  stages: ReadonlyArray<Stage>,
  reportIn: (file: string) => Report | undefined,
  shownPath: (path: string) => string
): { readonly lines: ReadonlyArray<string>; readonly passed: boolean } => {
  const withReports = stages.map((stage) => ({
    stage,
    report: showed[stage.name] === undefined ? undefined : reportIn(`${stage.name}.json`)
  }))
  const reports = withReports.flatMap(({ report }) => report ?? [])
  const failedStages = withReports.flatMap(({ report, stage }) => failureOf(stage, report) ?? [])
  const failures = [...reports.flatMap((report) => failedTests(report, shownPath)), ...failedStages]
  const others = stagesInTurn.filter((name) => stages.every((stage) => stage.name !== name))
  const total = (count: "numPassedTests" | "numFailedTests" | "numPendingTests"): number =>
    reports.reduce((sum, report) => sum + report[count], 0)
  const failed = total("numFailedTests") + failedStages.length
  const passed = total("numPassedTests") + stages.length - failedStages.length
  return {
    lines: [
      "Minutes of each stage:",
      ...stages.map(({ name, seconds }) => `${duration(seconds)}  ${name}`),
      ...(others.length === 0 ? [] : [`Not the turn of this landing: ${others.join(", ")}`]),
      ...failures.map((failure) => `failed: ${failure}`),
      `${passed} passed, ${failed} failed, ${total("numPendingTests")} skipped`
    ],
    passed: failed === 0 && stages.some(({ name }) => name === "all") && others.length < stagesInTurn.length
  }
}
