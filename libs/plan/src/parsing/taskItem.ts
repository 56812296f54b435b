/**
 * Reads a task from a list item: `- [ ] 02-01-T3 Wire OAuth (checkpoint: human-verify)`. An item without a box is not a
 * task; an item that only looks like a task, or a checkpoint in the wrong position, is a problem.
 */
import { CheckpointType } from "@reprise/protocol"
import { Result } from "effect"
import type { ListedItem } from "../markdown/Block.ts"
import type { Task } from "../plan/Plan.ts"
import { type PlanProblem, planProblem, quoted, suggest } from "../plan/PlanProblem.ts"
import { gateAfterFirstLine } from "./completionGate.ts"

/** `P1.2`, `02-01-T3`, `2.1-T4`, `T7`; bold and code are accepted. */
const idPattern = /^(\*\*|__|`)?(P\d{1,4}(?:\.\d{1,4})+[a-z]?|(?:[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*-)?T\d{1,5})/
const longestId = 64
/** A box to a human but not to the parser: `[]`, `[x]text`, `[-]`; not links such as `[x](url)`. */
const almostBox = /^\[[ \t\r\nxX*~✓✔-]{0,3}\](?![([:])/
const checkpointMention = /\(checkpoint\b[^()]*\)?/gi
const checkpointSuffix = /^\(checkpoint:\s*([^\s()]+)\s*\)$/i

/** The task; undefined for an item without a box. */
export const readTaskItem = (item: ListedItem): Result.Result<Task | undefined, PlanProblem> => {
  const refuse = (message: string) => Result.fail(planProblem("task-malformed", item.position, message))
  const line = item.text.replaceAll(/\s+/g, " ").trim()
  const { mark } = item
  if (mark === undefined) {
    if (almostBox.test(item.text))
      return refuse("the box of this item is malformed; write '- [ ] text' or '- [x] text'.")
    return checkpointsIn(line).length > 0
      ? Result.fail(
          planProblem("checkpoint-misplaced", item.position, "only '- [ ]' items can have a checkpoint; add the box.")
        )
      : Result.succeed(undefined)
  }
  if (/[\r\n]/.test(mark)) return refuse("the box is split over two lines; write '- [ ] text'.")
  if (gateAfterFirstLine(item.text)) {
    return Result.fail(
      planProblem(
        "completion-gate",
        item.position,
        "markdown reads the completion gate below as part of this item; put a blank line before the gate."
      )
    )
  }
  return Result.map(splitCheckpoint(line, item), ({ text, ...checkpoint }) => ({
    ...splitId(text),
    ...checkpoint,
    checked: mark.toLowerCase() === "x",
    depth: item.depth,
    position: item.position
  }))
}

const splitId = (text: string): Pick<Task, "id" | "text"> => {
  const match = idPattern.exec(text.slice(0, 2 * longestId))
  const [start = "", wrapper = "", id = ""] = match ?? []
  const after = text.slice(start.length)
  const closed = wrapper !== "" && (after.startsWith(wrapper) || after.startsWith(`:${wrapper}`))
  const rest = closed ? after.slice(after.indexOf(wrapper) + wrapper.length) : after
  if (match === null || id.length > longestId || !/^(?:$|[\s:—–]|[.)]\s)/.test(rest)) return { text }
  const words = rest.replace(/^[.):]?\s*(?:[:—–]|-+(?=\s))?\s*/, "")
  return { id, text: words === "" ? id : closed ? words : `${wrapper}${words}` }
}

/** Mentions of a checkpoint outside code. */
const checkpointsIn = (line: string) =>
  [...line.matchAll(checkpointMention)].filter(
    (match) => line[match.index - 1] !== "`" && line[match.index + match[0].length] !== "`"
  )

const splitCheckpoint = (
  line: string,
  item: ListedItem
): Result.Result<Pick<Task, "text" | "checkpoint">, PlanProblem> => {
  const mentions = checkpointsIn(line)
  const last = mentions.at(-1)
  if (last === undefined) return Result.succeed({ text: line })
  if (mentions.length > 1 || last.index + last[0].length !== line.length) {
    return Result.fail(
      planProblem(
        "checkpoint-misplaced",
        item.position,
        "a task has one checkpoint, at its very end: '- [ ] text (checkpoint: human-verify)'; move it there."
      )
    )
  }
  const word = checkpointSuffix.exec(last[0])?.[1]?.toLowerCase()
  const type = CheckpointType.literals.find((literal) => literal === word)
  const text = line.slice(0, last.index).trim()
  return type === undefined
    ? Result.fail(
        planProblem(
          "checkpoint-type",
          item.position,
          `${quoted(last[0])} is not a known checkpoint, written '(checkpoint: TYPE)'; ${suggest(word ?? "", CheckpointType.literals)}`
        )
      )
    : Result.succeed({ text, checkpoint: type })
}
