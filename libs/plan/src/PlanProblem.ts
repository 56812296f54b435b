import { Schema } from "effect"

/** What can be wrong with a plan. Match these, never the message. */
export const PlanProblemCode = Schema.Literals([
  "empty",
  "binary",
  "not-utf8",
  "too-large",
  "too-deep",
  "blank-lines",
  "unclosed-block",
  "front-matter-syntax",
  "front-matter-field",
  "no-phases",
  "phase-heading",
  "phase-duplicate",
  "phase-order",
  "phase-misplaced",
  "phase-empty",
  "task-malformed",
  "task-duplicate",
  "task-unknown",
  "task-outside-phase",
  "checkpoint-type",
  "checkpoint-misplaced",
  "completion-gate"
])
export type PlanProblemCode = typeof PlanProblemCode.Type

/** One thing that is wrong with a plan: where (1-based), and a sentence that says what to do next. Plain data. */
export const PlanProblem = Schema.Struct({
  code: PlanProblemCode,
  line: Schema.Int,
  column: Schema.Int,
  message: Schema.String
})
export type PlanProblem = typeof PlanProblem.Type

export const planProblem = (
  code: PlanProblemCode,
  at: { readonly line: number; readonly column: number },
  message: string
): PlanProblem => ({ code, line: at.line, column: at.column, message })

/** `line 3, column 5: message`, as a compiler would print it. */
export const formatPlanProblem = (problem: PlanProblem): string =>
  `line ${problem.line}, column ${problem.column}: ${problem.message}`

const byPlace = (a: PlanProblem, b: PlanProblem) => a.line - b.line || a.column - b.column

/** In the order of the text; a hundred at most, since nobody reads more. */
export const inReadingOrder = (problems: ReadonlyArray<PlanProblem>): ReadonlyArray<PlanProblem> =>
  problems.toSorted(byPlace).slice(0, 100)
