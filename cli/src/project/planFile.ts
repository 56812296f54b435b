/** The plan that a command was given: found in the repository, read and parsed once. */
import { realpathSync } from "node:fs"
import { dirname, isAbsolute, relative, resolve } from "node:path"
import { maxPlanLength, type Plan, type PlanProblem, parsePlan } from "@reprise/plan"
import { ForeignFileRefused, hasCode, readForeignText } from "@reprise/process"
import { Effect, Result } from "effect"
import { missing, wrongUse } from "../terminal/CliFailure.ts"
import { visibleLine } from "../terminal/visible.ts"
import { isOwnWorktree, type Project, topLevel } from "./Project.ts"

export interface PlanFile {
  /** Relative to the project's root. */
  readonly path: string
  readonly text: string
  readonly plan: Plan
}

const noPlan = (given: string) =>
  wrongUse(
    "plan-missing",
    `There is no plan at ${visibleLine(given)}.`,
    "Give the path of a markdown file; 'reprise init --plan' writes a sample."
  )

/** The plan's path; a plan outside of the repository is wrong use. */
const findPlan = Effect.fnUntraced(function* (project: Project, from: string, given: string) {
  if (given.trim() === "") {
    return yield* wrongUse("plan-missing", "The path of the plan is empty.", "Give the path of a markdown file.")
  }
  const absolute = yield* Effect.try({
    try: () => realpathSync(resolve(from, given)),
    catch: () => noPlan(given)
  })
  const path = relative(project.root, absolute)
  if (path === "" || path.startsWith("..") || isAbsolute(path)) {
    return yield* wrongUse(
      "plan-outside",
      `The plan ${visibleLine(given)} is outside of the repository ${visibleLine(project.root)}.`,
      "Move the plan into the repository: it is read again after each phase."
    )
  }
  // Git was asked about the root already.
  const owner = dirname(absolute) === project.root ? project.root : yield* topLevel(dirname(absolute))
  if (owner !== project.root && !isOwnWorktree(project, owner)) {
    return yield* wrongUse(
      "plan-elsewhere",
      `The plan ${visibleLine(given)} belongs to another repository, ${visibleLine(owner)}.`,
      `Run it there: cd ${visibleLine(owner)}`
    )
  }
  return { path, absolute }
})

/** A character of a plan takes at most three bytes. */
const largestBytes = 3 * maxPlanLength

const notRead = (given: string, cause: unknown) => {
  if (cause instanceof ForeignFileRefused && cause.code === "ENOTAFILE") {
    return wrongUse("plan-missing", `${visibleLine(given)} ${cause.what}.`, "Give the path of a markdown file.")
  }
  return hasCode(cause, "EFBIG")
    ? wrongUse(
        "plan-invalid",
        `${visibleLine(given)} is larger than the ${maxPlanLength / 1024} KB that a plan may have.`,
        "Split it into several plans, or move long material into files that the plan refers to."
      )
    : missing("plan-unreadable", `${visibleLine(given)} cannot be read.`, "Check its permissions.", cause)
}

const readText = (absolute: string, given: string) =>
  Effect.tryPromise({
    try: () => readForeignText(absolute, { largestBytes, follow: true }),
    catch: (cause) => notRead(given, cause)
  }).pipe(Effect.flatMap((text) => (text === undefined ? Effect.fail(noPlan(given)) : Effect.succeed(text))))

const shownProblems = 20

const problemLines = (path: string, problems: ReadonlyArray<PlanProblem>): string =>
  problems
    .slice(0, shownProblems)
    .map(({ column, line, message }) => `  ${path}:${line}:${column} ${message}`)
    .join("\n")

/**
 * Reads and parses a plan. Fails with exit code 2, naming every problem with its line and column, when the plan is
 * missing or invalid.
 */
export const readPlanFile = Effect.fn("readPlanFile")(function* (project: Project, given: string) {
  const { absolute, path } = yield* findPlan(project, process.cwd(), given)
  const text = yield* readText(absolute, given)
  const parsed = parsePlan(text)
  if (Result.isFailure(parsed)) {
    return yield* wrongUse(
      "plan-invalid",
      `${visibleLine(given)} is not a valid plan:\n${problemLines(visibleLine(given), parsed.failure)}`,
      "A phase is '## Phase N: Title' with items '- [ ] text'; 'reprise validate PLAN' checks again."
    )
  }
  return { path, text, plan: parsed.success } satisfies PlanFile
})
