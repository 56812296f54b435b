/** What a phase's blocks hold: tasks and the completion gate. */
import { Result } from "effect"
import type { Block, ListedItem } from "./Block.ts"
import { gateAfterFirstLine, readCompletionGate } from "./completionGate.ts"
import type { Task } from "./Plan.ts"
import { type PlanProblem, planProblem } from "./PlanProblem.ts"
import type { Position } from "./Position.ts"
import { readTaskItem } from "./taskItem.ts"

export interface PhaseContent {
  readonly tasks: ReadonlyArray<Task>
  readonly completionGate: string | undefined
  /** Something is to be read below the heading. */
  readonly says: boolean
  readonly problems: ReadonlyArray<PlanProblem>
}

interface Gate {
  readonly text: string
  readonly position: Position
}

/** Paragraphs that are checklist items without their bullet. */
const bareBox = /^\[[ xX]\][ \t]/m

export const readPhaseContent = (blocks: ReadonlyArray<Block>): PhaseContent => {
  const tasks: Array<Task> = []
  const gates: Array<Gate> = []
  const problems: Array<PlanProblem> = []
  blocks.forEach((block, index) => {
    if (block.kind === "paragraph") {
      const text = readCompletionGate(block.text)
      if (text !== undefined)
        gates.push({ position: block.position, text: text === "" ? linesOf(blocks[index + 1]) : text })
      problems.push(...paragraphProblems(block.text, block.position))
    }
    if (block.kind === "list") {
      for (const item of block.items) {
        const text = item.box === undefined ? readCompletionGate(item.text) : undefined
        if (text !== undefined) {
          gates.push({ position: item.position, text })
          continue
        }
        const task = readTaskItem(item)
        if (Result.isFailure(task)) problems.push(task.failure)
        else if (task.success !== undefined) tasks.push(task.success)
      }
    }
  })
  return {
    tasks,
    completionGate: gates[0]?.text,
    says: blocks.some((block) => block.kind !== "nothing"),
    problems: [...problems, ...gateProblems(gates)]
  }
}

const paragraphProblems = (text: string, position: Position): ReadonlyArray<PlanProblem> => {
  if (bareBox.test(text)) {
    return [planProblem("task-malformed", position, "a box in this paragraph has no bullet; write '- [ ] text'.")]
  }
  return gateAfterFirstLine(text)
    ? [
        planProblem(
          "completion-gate",
          position,
          "a completion gate below this line belongs to the paragraph; put a blank line before it."
        )
      ]
    : []
}

const gateProblems = (gates: ReadonlyArray<Gate>): ReadonlyArray<PlanProblem> => [
  ...gates
    .filter(({ text }) => text === "")
    .map(({ position }) =>
      planProblem("completion-gate", position, "the completion gate says nothing; write it or delete it.")
    ),
  ...gates
    .slice(1)
    .map(({ position }) =>
      planProblem("completion-gate", position, "the phase has a completion gate already; make them one.")
    )
]

/** The words of a block that follows an empty `**Completion gate:**`. */
const linesOf = (block: Block | undefined): string => {
  if (block?.kind === "paragraph") return oneLine(block.text)
  return block?.kind === "list" ? block.items.map((item: ListedItem) => oneLine(item.text)).join("; ") : ""
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim()
