/**
 * Divides a plan's blocks into phases (docs/design/continuation.md#plans). A phase ends at the next phase heading, or at
 * the next heading of its own level or higher. `### Phase 2.1` inside `## Phase 2` is a separate phase; the outer phase
 * then ends where the inner one begins, and without items of its own it only groups.
 */
import { Option, Result } from "effect"
import type { Block } from "../markdown/Block.ts"
import type { Position } from "../markdown/Position.ts"
import { type PlanProblem, planProblem } from "../plan/PlanProblem.ts"
import { type PhaseHeading, readPhaseHeading } from "./phaseHeading.ts"

export interface Section extends PhaseHeading {
  readonly depth: number
  readonly position: Position
  readonly blocks: Array<Block>
  /** The offset of the line that ends the section, or the length of the text. */
  end: number
  /** The section that contains this one. */
  readonly parent: Section | undefined
  hasSubPhases: boolean
}

export interface Sections {
  readonly phases: ReadonlyArray<Section>
  /** The first level 1 heading. */
  readonly title: string | undefined
  /** Blocks that belong to no phase. */
  readonly outside: ReadonlyArray<Block>
  readonly problems: ReadonlyArray<PlanProblem>
}

/** Every block belongs to one phase or to `outside`. */
export const divideIntoPhases = (blocks: ReadonlyArray<Block>, length: number): Sections => {
  const phases: Array<Section> = []
  const outside: Array<Block> = []
  const problems: Array<PlanProblem> = []
  let title: string | undefined
  let open: Section | undefined
  let outer: Section | undefined
  const close = (block: Block) => {
    if (open !== undefined) open.end = block.position.offset - (block.position.column - 1)
    open = undefined
  }
  for (const block of blocks) {
    if (block.kind === "heading") {
      // `# Phase 2: Accounts` at the top of a plan is its title.
      const isTitle = block.depth === 1 && title === undefined && phases.length === 0
      const read = isTitle ? Result.succeed(Option.none<PhaseHeading>()) : readPhaseHeading(block)
      if (isTitle) title = block.text.replaceAll(/\s+/g, " ").trim()
      if (Result.isFailure(read)) problems.push(read.failure)
      const heading = Result.isSuccess(read) ? Option.getOrUndefined(read.success) : undefined
      if (heading !== undefined) {
        close(block)
        if (block.depth === 2) outer = undefined
        open = {
          ...heading,
          depth: block.depth,
          position: block.position,
          blocks: [],
          end: length,
          parent: outer,
          hasSubPhases: false
        }
        problems.push(...misplaced(open))
        if (outer !== undefined) outer.hasSubPhases = true
        if (block.depth === 2) outer = open
        phases.push(open)
        continue
      }
      if (block.depth <= 2) outer = undefined
      if (open !== undefined && block.depth <= open.depth) close(block)
    }
    if (open === undefined) outside.push(block)
    else open.blocks.push(block)
  }
  return { phases, title, outside, problems }
}

const misplaced = ({ id, parent, position }: Section): ReadonlyArray<PlanProblem> =>
  parent === undefined || id === parent.id || id.startsWith(`${parent.id}.`)
    ? []
    : [
        planProblem(
          "phase-misplaced",
          position,
          `phase ${id} is inside phase ${parent.id}; move it, or give it a number of that phase.`
        )
      ]
