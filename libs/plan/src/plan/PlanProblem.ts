/** Everything that can be wrong with a plan, and the words in which users are told. */
import { Schema } from "effect"
import { closest, distance } from "fastest-levenshtein"

/** What can be wrong with a plan. Match these codes, never the message. */
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
  "task-outside-phase",
  "checkpoint-type",
  "checkpoint-misplaced",
  "completion-gate"
])
export type PlanProblemCode = typeof PlanProblemCode.Type

/** One mistake in a plan: its line and column (from 1), and a sentence that says how to fix it. Plain data. */
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

/** The problem as a compiler would print it: `line 3, column 5: message`. */
export const formatPlanProblem = (problem: PlanProblem): string =>
  `line ${problem.line}, column ${problem.column}: ${problem.message}`

const byPosition = (a: PlanProblem, b: PlanProblem) => a.line - b.line || a.column - b.column

/** Sorts problems by line and column, and keeps the first hundred: nobody reads more. */
export const inReadingOrder = (problems: ReadonlyArray<PlanProblem>): ReadonlyArray<PlanProblem> =>
  problems.toSorted(byPosition).slice(0, 100)

/** Completes a message about an unknown word: `did you mean 'x'?` when a known word is close to it, else all known words. */
export const suggest = (word: string, known: ReadonlyArray<string>): string => {
  const nearest = closest(word.slice(0, 64), known)
  return distance(word.slice(0, 64), nearest) <= Math.max(2, Math.floor(nearest.length / 3))
    ? `did you mean '${nearest}'?`
    : `known are ${known.join(", ")}.`
}

/** Quotes text of a plan for a message: on one line, cut after 60 characters. */
export const quoted = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return `'${line.length > 60 ? `${line.slice(0, 59)}…` : line}'`
}
