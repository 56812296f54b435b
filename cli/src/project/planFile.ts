/** Reads and parses a plan; every problem is named with its line and column. */
import { readFile } from "node:fs/promises"
import { type PlanProblem, parsePlan } from "@reprise/plan"
import { Effect, Result } from "effect"
import { missing, wrongUse } from "../terminal/CliFailure.ts"
import { type Project, planPathIn } from "./Project.ts"

const shown = 20

const problemLines = (path: string, problems: ReadonlyArray<PlanProblem>): string =>
  problems
    .slice(0, shown)
    .map(({ column, line, message }) => `  ${path}:${line}:${column} ${message}`)
    .join("\n")

/** The plan and its path relative to the project's root. Fails with exit code 2 when it is not there or not valid. */
export const readPlan = Effect.fn("readPlan")(function* (project: Project, given: string) {
  const { absolute, relative } = yield* planPathIn(project, process.cwd(), given)
  const text = yield* Effect.tryPromise({
    try: () => readFile(absolute, "utf8"),
    catch: (cause) =>
      cause instanceof Error && "code" in cause && cause.code === "EISDIR"
        ? wrongUse("plan-missing", `${given} is a folder.`, "Give the path of a markdown file.")
        : missing("plan-unreadable", `${given} cannot be read.`, "Check its permissions.", cause)
  })
  const parsed = parsePlan(text)
  if (Result.isFailure(parsed)) {
    return yield* wrongUse(
      "plan-invalid",
      `${given} is not a valid plan:\n${problemLines(given, parsed.failure)}`,
      "A phase is '## Phase N: Title' with items '- [ ] text'; 'reprise validate PLAN' checks again."
    )
  }
  return { path: relative, text, plan: parsed.success }
})
