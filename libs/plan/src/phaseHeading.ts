/**
 * Which headings are phases: `## Phase N: Title` and `### Phase N.M: Title` (continuation: Plans). Either number may stand
 * on either level, since there are plans that put all their phases below one `## Phases`.
 */
import { Option, Result } from "effect"
import { type PlanProblem, planProblem } from "./PlanProblem.ts"
import type { Position } from "./Position.ts"
import { quoted } from "./suggest.ts"

export interface PhaseHeading {
  /** Without leading zeros: `Phase 02.1` is phase 2.1. */
  readonly id: string
  readonly title: string
  readonly done: boolean
}

interface Heading {
  readonly position: Position
  readonly depth: number
  readonly text: string
}

const phasePattern = /^phase\s+(\d{1,4}(?:\.\d{1,4})?)(?<separator>\s*:\s*|\s+[-–—]\s+|\s+|$)(?<title>.*)$/is
const donePattern = /(?:^|\s+)[-–—]\s+COMPLETE$/s
/** Headings that begin like a phase and are none: they would be left out in silence. */
const nearPattern = /^phase[\s#.-]*\d|^phase\s+\S+\s*(?::|\s[-–—]\s)/i

/** A phase, nothing (an ordinary heading), or a heading of which it is not clear which of the two it is. */
export const readPhaseHeading = (heading: Heading): Result.Result<Option.Option<PhaseHeading>, PlanProblem> => {
  const refuse = (message: string) => Result.fail(planProblem("phase-heading", heading.position, message))
  const match = phasePattern.exec(heading.text)
  if (match === null) {
    return nearPattern.test(heading.text) && heading.depth <= 3
      ? refuse(
          `${quoted(heading.text)} begins like a phase; write it as 'Phase N: Title' or 'Phase N.M: Title', or reword it.`
        )
      : Result.succeed(Option.none())
  }
  const [, number = "", separator = "", rest = ""] = match
  const id = number.split(".").map(Number).join(".")
  if (heading.depth !== 2 && heading.depth !== 3) {
    const ordinary = heading.depth > 3 && separator.trim() === "" && rest !== ""
    return ordinary
      ? Result.succeed(Option.none())
      : refuse(
          `${quoted(heading.text)} is a level ${heading.depth} heading; phases are '##' or '###', so change it or reword it.`
        )
  }
  return Result.succeed(Option.some({ id, ...titleOf(rest, separator, id) }))
}

const titleOf = (rest: string, separator: string, id: string): Omit<PhaseHeading, "id"> => {
  const line = rest
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/^[-–—]$/, "")
  // In `Phase 2 - COMPLETE` the separator has already taken the dash.
  const done = donePattern.test(line) || (line === "COMPLETE" && /[-–—]/.test(separator))
  const title = done ? line.replace(donePattern, "").replace(/^COMPLETE$/, "") : line
  return { title: title === "" ? `Phase ${id}` : title, done }
}

/** Phases in the order of their numbers: 2, 2.1, 2.10, 3. */
export const comparePhaseIds = (a: string, b: string): number => {
  const [aMajor = 0, aMinor = -1] = a.split(".").map(Number)
  const [bMajor = 0, bMinor = -1] = b.split(".").map(Number)
  return aMajor - bMajor || aMinor - bMinor
}
