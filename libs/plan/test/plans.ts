/** Helpers of these tests: unwrapping results, and building plans from lines. */
import { assert } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { PlanProblem } from "../src/index.ts"

export const parsed = <A>(result: Result.Result<A, unknown>): A => {
  if (Result.isFailure(result)) assert.fail(`refused: ${JSON.stringify(result.failure)}`)
  return result.success
}

export const refused = <E>(result: Result.Result<unknown, E>): E => {
  if (Result.isSuccess(result)) assert.fail(`not refused: ${JSON.stringify(result.success)}`)
  return result.failure
}

/** Code, line and column of each problem. */
export const places = (problems: ReadonlyArray<PlanProblem>) =>
  problems.map(({ code, line, column }) => [code, line, column] as const)

export const lines = (...text: ReadonlyArray<string>) => `${text.join("\n")}\n`

/** Lines of plans, and lines that confuse parsers; any sequence of them is markdown. */
const MarkdownLine = Schema.Literals([
  "",
  "",
  "# Title",
  "## Phase 1: One",
  "## Phase 2 - Two - COMPLETE",
  "### Phase 2.1 Sub",
  "## Notes",
  "  ## Indented heading",
  "- [ ] P1.1 first",
  "- [x] second (checkpoint: decision)",
  "  - [ ] nested",
  "    - deeper",
  "   - [ ] three spaces",
  "* other bullet",
  "1. [ ] numbered",
  "1) later",
  "prose with `code` and **bold**",
  "  indented prose",
  "    four spaces",
  "\ttab",
  "> - [ ] quoted",
  ">",
  "```",
  "~~~~ts",
  "---",
  "===",
  "<!-- open",
  "close -->",
  "<div>",
  "[label]: http://example.com",
  '"title"',
  "**Completion gate:** all green",
  "🙂 – ünï"
])

export const MarkdownLines = Schema.Array(MarkdownLine)
