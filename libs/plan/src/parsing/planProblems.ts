/** Problems between parts of a plan that are each valid: order, duplicates, empty phases, blocks that never end. */
import type { Block } from "../markdown/Block.ts"
import type { Phase } from "../plan/Plan.ts"
import { type PlanProblem, planProblem, quoted } from "../plan/PlanProblem.ts"
import { taskList } from "../plan/tasks.ts"
import type { PhaseContent } from "./phaseContent.ts"
import { comparePhaseIds } from "./phaseHeading.ts"
import type { Section } from "./sections.ts"

export interface PhaseSource extends PhaseContent {
  readonly section: Section
}

/** An outer phase without items of its own only groups; it is not a phase. */
export const isPhase = ({ section, tasks }: PhaseSource): boolean => tasks.length > 0 || !section.hasSubPhases

export const orderProblems = (sections: ReadonlyArray<Section>): ReadonlyArray<PlanProblem> => {
  const problems: Array<PlanProblem> = []
  const seen = new Map<string, Section>()
  let highest: Section | undefined
  for (const section of sections) {
    const twin = seen.get(section.id)
    if (twin !== undefined) {
      problems.push(
        planProblem(
          "phase-duplicate",
          section.position,
          `phase ${section.id} is already on line ${twin.position.line}; give this one another number.`
        )
      )
    } else if (highest !== undefined && comparePhaseIds(section.id, highest.id) < 0) {
      problems.push(
        planProblem(
          "phase-order",
          section.position,
          `phase ${section.id} comes after phase ${highest.id}; move it, or number the phases in the order in which they run.`
        )
      )
    }
    seen.set(section.id, twin ?? section)
    if (highest === undefined || comparePhaseIds(section.id, highest.id) > 0) highest = section
  }
  return problems
}

export const contentProblems = (source: PhaseSource): ReadonlyArray<PlanProblem> => {
  const { id, position, hasSubPhases } = source.section
  if (!isPhase(source) && source.completionGate !== undefined) {
    return [
      planProblem(
        "completion-gate",
        position,
        `phase ${id} only groups other phases, so its completion gate would be lost; move it into the last of them.`
      )
    ]
  }
  return source.hasContent || hasSubPhases
    ? source.problems
    : [
        planProblem(
          "phase-empty",
          position,
          `phase ${id} is empty; write '- [ ] text' items below it, or delete the heading.`
        )
      ]
}

/** Task ids are unique in the whole plan, including those that `taskList` gives. */
export const taskIdProblems = (phases: ReadonlyArray<Phase>): ReadonlyArray<PlanProblem> => {
  const lines = new Map<string, number>()
  const problems: Array<PlanProblem> = []
  for (const { id, position } of phases.flatMap((phase) => phase.tasks)) {
    const line = id === undefined ? undefined : lines.get(id)
    if (line !== undefined) {
      const message = `task ${quoted(id ?? "")} is already on line ${line}; give this one another id.`
      problems.push(planProblem("task-duplicate", position, message))
    } else if (id !== undefined) {
      lines.set(id, position.line)
    }
  }
  return [...problems, ...phases.flatMap((phase) => givenIdProblems(phase, lines))]
}

/** Items without an id that would get, from their position in the phase, the id of another item. */
const givenIdProblems = (phase: Phase, lines: ReadonlyMap<string, number>): ReadonlyArray<PlanProblem> =>
  taskList(phase).flatMap(({ id, position }, index) => {
    const line = phase.tasks[index]?.id === undefined ? lines.get(id) : undefined
    return line === undefined
      ? []
      : [
          planProblem(
            "task-duplicate",
            position,
            `this item would be task ${quoted(id)}, which is on line ${line}; give it an id.`
          )
        ]
  })

export const unclosedProblems = (block: Block): ReadonlyArray<PlanProblem> =>
  block.kind === "unclosed"
    ? [
        planProblem(
          "unclosed-block",
          block.position,
          `the block that begins here never ends, so it contains the rest of the plan; close it with ${block.closing}.`
        )
      ]
    : []

/** Checklist items outside every phase: nobody will execute them. */
export const itemsOutside = (block: Block): ReadonlyArray<PlanProblem> =>
  block.kind === "list"
    ? block.items
        .filter((item) => item.mark !== undefined)
        .map((item) =>
          planProblem(
            "task-outside-phase",
            item.position,
            "this item is in no phase, so it is not a task; move it into a phase if it should be done."
          )
        )
    : []
