/**
 * What an item of a list says: `- [ ] 02-01-T3 Wire OAuth (checkpoint: human-verify)`. An item without a box is no task;
 * one that only looks like a task, or a checkpoint that stands where none can be, is a problem.
 */
import { CheckpointType } from "@reprise/protocol"
import { Result } from "effect"
import type { ListedItem } from "./Block.ts"
import { gateAfterFirstLine } from "./completionGate.ts"
import type { Task } from "./Plan.ts"
import { type PlanProblem, planProblem } from "./PlanProblem.ts"
import { quoted, suggest } from "./suggest.ts"

/** `P1.2`, `02-01-T3`, `2.1-T4`, `T7`; it may be bold or code. */
const idPattern = /^(\*\*|__|`)?(P\d{1,4}(?:\.\d{1,4})+[a-z]?|(?:[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*-)?T\d{1,5})/
const longestId = 64
/** What a box looks like to a human and not to the parser: `[]`, `[x]text`, `[-]`; not links such as `[x](url)`. */
const nearBox = /^\[[ \t\r\nxX*~✓✔-]{0,3}\](?![([:])/
const checkpointMention = /\(checkpoint\b[^()]*\)?/gi
const checkpointSuffix = /^\(checkpoint:\s*([^\s()]+)\s*\)$/i

/** A task, or nothing for an item without a box. */
export const readTaskItem = (item: ListedItem): Result.Result<Task | undefined, PlanProblem> => {
  const refuse = (message: string) => Result.fail(planProblem("task-malformed", item.position, message))
  const line = item.text.replaceAll(/\s+/g, " ").trim()
  if (item.box === undefined) {
    if (nearBox.test(item.text)) return refuse("the box of this item is not one; write '- [ ] text' or '- [x] text'.")
    return checkpointsIn(line).length > 0
      ? Result.fail(
          planProblem("checkpoint-misplaced", item.position, "only '- [ ]' items can have a checkpoint; add a box.")
        )
      : Result.succeed(undefined)
  }
  if (/[\r\n]/.test(item.box.mark)) return refuse("the box is broken over two lines; write '- [ ] text'.")
  if (gateAfterFirstLine(item.text)) {
    return Result.fail(
      planProblem(
        "completion-gate",
        item.position,
        "the completion gate below this item belongs to it; put a blank line between."
      )
    )
  }
  const { offset, mark } = item.box
  return Result.map(splitCheckpoint(line, item), ({ text, ...checkpoint }) => ({
    ...splitId(text),
    ...checkpoint,
    checked: mark.toLowerCase() === "x",
    depth: item.depth,
    position: item.position,
    box: offset
  }))
}

const splitId = (text: string): Pick<Task, "id" | "text"> => {
  const match = idPattern.exec(text.slice(0, 2 * longestId))
  const [start = "", wrapper = "", id = ""] = match ?? []
  const after = text.slice(start.length)
  const closed = wrapper !== "" && (after.startsWith(wrapper) || after.startsWith(`:${wrapper}`))
  const rest = closed ? after.slice(after.indexOf(wrapper) + wrapper.length) : after
  if (match === null || id.length > longestId || !/^(?:$|[\s:—–]|[.)]\s)/.test(rest)) return { text }
  const said = rest.replace(/^[.):]?\s*(?:[:—–]|-+(?=\s))?\s*/, "")
  return { id, text: said === "" ? id : closed ? said : `${wrapper}${said}` }
}

/** Mentions of a checkpoint that are not code. */
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
