/** Reads the blocks of a phase: its tasks and its completion gate. */
import { Result } from "effect"
import type { Block } from "../markdown/Block.ts"
import type { Position } from "../markdown/Position.ts"
import type { Task } from "../plan/Plan.ts"
import { type PlanProblem, planProblem } from "../plan/PlanProblem.ts"
import {
  type CompletionGate,
  gateAfterFirstLine,
  gateProblems,
  gateTextOf,
  readCompletionGate
} from "./completionGate.ts"
import { readTaskItem } from "./taskItem.ts"

export interface PhaseContent {
  readonly tasks: ReadonlyArray<Task>
  readonly completionGate: string | undefined
  /** Whether there is anything to read below the heading. */
  readonly hasContent: boolean
  readonly problems: ReadonlyArray<PlanProblem>
}

/** Checklist items without their bullet. */
const bareBox = /(?<![^\r\n])\[[ xX]\][ \t]/

export const readPhaseContent = (blocks: ReadonlyArray<Block>): PhaseContent => {
  const tasks: Array<Task> = []
  const gates: Array<CompletionGate> = []
  const problems: Array<PlanProblem> = []
  blocks.forEach((block, index) => {
    if (block.kind === "paragraph") {
      const text = readCompletionGate(block.text)
      if (text !== undefined)
        gates.push({ position: block.position, text: text === "" ? gateTextOf(blocks[index + 1]) : text })
      problems.push(...paragraphProblems(block.text, block.position))
    }
    if (block.kind === "list") {
      for (const item of block.items) {
        const text = item.mark === undefined ? readCompletionGate(item.text) : undefined
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
    hasContent: blocks.some((block) => block.kind !== "nothing"),
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
          "markdown reads the completion gate below as part of this paragraph; put a blank line before the gate."
        )
      ]
    : []
}
