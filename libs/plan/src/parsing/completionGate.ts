/** `**Completion gate:** …`, the condition under which a phase is complete: a paragraph or a list item of its own. */
import type { Block } from "../markdown/Block.ts"
import type { Position } from "../markdown/Position.ts"
import { type PlanProblem, planProblem } from "../plan/PlanProblem.ts"

export interface CompletionGate {
  readonly text: string
  readonly position: Position
}

const gatePattern = /^\*\*completion gate(?::\s*\*\*|\*\*\s*:)(.*)$/is

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim()

/** The gate's text on one line; undefined when the paragraph is not a gate. It can be empty: the next block is the text then. */
export const readCompletionGate = (paragraph: string): string | undefined => {
  const text = gatePattern.exec(paragraph)?.[1]
  return text === undefined ? undefined : oneLine(text)
}

/** The text of a block that follows an empty `**Completion gate:**`. */
export const gateTextOf = (block: Block | undefined): string => {
  if (block?.kind === "paragraph") return oneLine(block.text)
  return block?.kind === "list" ? block.items.map((item) => oneLine(item.text)).join("; ") : ""
}

/** Whether a gate is on a later line of the paragraph: markdown reads it as part of that paragraph. */
export const gateAfterFirstLine = (paragraph: string): boolean =>
  /[\r\n][ \t]*\*\*completion gate(?::\s*\*\*|\*\*\s*:)/i.test(paragraph)

/** A phase has one gate at most, and it has a text. */
export const gateProblems = (gates: ReadonlyArray<CompletionGate>): ReadonlyArray<PlanProblem> => [
  ...gates
    .filter(({ text }) => text === "")
    .map(({ position }) =>
      planProblem("completion-gate", position, "the completion gate is empty; write its text or delete it.")
    ),
  ...gates
    .slice(1)
    .map(({ position }) =>
      planProblem("completion-gate", position, "the phase already has a completion gate; write one for both.")
    )
]
