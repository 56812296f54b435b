/** Parses a plan's text (docs/design/continuation.md#plans). */
import { defined } from "@reprise/protocol"
import { Option, Result } from "effect"
import type { Block } from "../markdown/Block.ts"
import { opensFrontMatter, readBlocks } from "../markdown/readBlocks.ts"
import { refuseText } from "../markdown/refuseText.ts"
import type { FrontMatter } from "../plan/FrontMatter.ts"
import { readFrontMatter } from "../plan/FrontMatter.ts"
import type { Phase, Plan } from "../plan/Plan.ts"
import { inReadingOrder, type PlanProblem, planProblem } from "../plan/PlanProblem.ts"
import { readPhaseContent } from "./phaseContent.ts"
import {
  contentProblems,
  isPhase,
  itemsOutside,
  orderProblems,
  type PhaseSource,
  taskIdProblems,
  unclosedProblems
} from "./planProblems.ts"
import { divideIntoPhases, type Sections } from "./sections.ts"

type Problems = ReadonlyArray<PlanProblem>

/**
 * Parses the text of a plan. Any string gives either a plan or all of its problems (at least one, at most a hundred, in
 * the order of the text), each with line, column and a way to fix it. Never throws and never guesses. The time
 * is linear in the length.
 *
 * @example
 * const parsed = parsePlan("## Phase 1: Greet\n- [ ] P1.1 Write greet.mjs\n")
 * if (Result.isFailure(parsed)) parsed.failure.map(formatPlanProblem)
 */
export const parsePlan = (text: string): Result.Result<Plan, Problems> => {
  const refused = refuseText(text)
  if (Option.isSome(refused)) return Result.fail([refused.value])
  const blocks = readBlocks(text)
  return Result.isFailure(blocks) ? Result.fail([blocks.failure]) : planOf(text, blocks.success)
}

const planOf = (text: string, blocks: ReadonlyArray<Block>): Result.Result<Plan, Problems> => {
  const frontMatter = frontMatterOf(text, blocks)
  const sections = divideIntoPhases(blocks, text.length)
  const sources = sections.phases.map((section) => ({ section, ...readPhaseContent(section.blocks) }))
  const phases = sources.filter(isPhase).map((source) => phaseOf(source, text))
  const found = [
    ...(Result.isFailure(frontMatter) ? frontMatter.failure : []),
    ...blocks.flatMap(unclosedProblems),
    ...sections.problems,
    ...sources.flatMap(contentProblems),
    ...orderProblems(sections.phases),
    ...taskIdProblems(phases)
  ]
  const problems = phases.length === 0 && found.length === 0 ? [nothingToDo(text)] : found
  return Result.isSuccess(frontMatter) && problems.length === 0
    ? Result.succeed(assemble(text, frontMatter.success, sections, phases))
    : Result.fail(inReadingOrder(problems))
}

const frontMatterOf = (text: string, blocks: ReadonlyArray<Block>): Result.Result<FrontMatter, Problems> => {
  const first = blocks[0]
  if (first?.kind === "front-matter") return readFrontMatter(first.yaml, first.position.line)
  return opensFrontMatter(text)
    ? Result.fail([
        planProblem(
          "front-matter-syntax",
          { line: 1, column: 1 },
          "the front matter that begins here never ends; close it with '---', or write '***' for a rule."
        )
      ])
    : Result.succeed({})
}

const phaseOf = ({ section, tasks, completionGate }: PhaseSource, text: string): Phase => ({
  id: section.id,
  title: section.title,
  done: section.done || section.parent?.done === true,
  ...defined({ completionGate }),
  tasks,
  body: text.slice(section.position.offset - (section.position.column - 1), section.end),
  position: section.position
})

const assemble = (source: string, frontMatter: FrontMatter, sections: Sections, phases: ReadonlyArray<Phase>): Plan => {
  const title = frontMatter.title ?? sections.title ?? ""
  return {
    ...defined({ id: frontMatter.id }),
    ...(title === "" ? {} : { title }),
    frontMatter,
    phases,
    notes: inReadingOrder(sections.outside.flatMap(itemsOutside)),
    source
  }
}

const nothingToDo = (text: string): PlanProblem =>
  text.trim() === ""
    ? planProblem(
        "empty",
        { line: 1, column: 1 },
        "the plan is empty; write '## Phase 1: Title' and items '- [ ] text'."
      )
    : planProblem(
        "no-phases",
        { line: 1, column: 1 },
        "the plan has no phases; put its items below headings '## Phase 1: Title', '## Phase 2: Title'."
      )
