/**
 * Which headings are phases: `## Phase N: Title` and `### Phase N.M: Title` (docs/design/continuation.md#plans). Either
 * form of number can be on either level, because some plans put all phases below one `## Phases`.
 */
import { Option, Result } from "effect"
import type { Position } from "../markdown/Position.ts"
import { type PlanProblem, planProblem, quoted } from "../plan/PlanProblem.ts"

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

const phasePattern = /^phase\s+(\d{1,4}(?:\.\d{1,4})?)(?<separator>\s*:\s*|\s+[-–—]\s+|\s+|$)(?<title>.*)/is
/** In a line whose blanks are single ones. */
const donePattern = /(?:^| )[-–—] COMPLETE$/
/** Headings that look like a phase but are not: without a problem they would be ignored silently. */
const almostPhasePattern = /^phase[\s#.-]*\d|^phase\s+\S+\s*(?::|\s[-–—]\s)/i

/** A phase; none for an ordinary heading; a problem when the heading could be meant as either. */
export const readPhaseHeading = (heading: Heading): Result.Result<Option.Option<PhaseHeading>, PlanProblem> => {
  const refuse = (message: string) => Result.fail(planProblem("phase-heading", heading.position, message))
  const match = phasePattern.exec(heading.text)
  if (match === null) {
    return almostPhasePattern.test(heading.text) && heading.depth <= 3
      ? refuse(
          `${quoted(heading.text)} looks like a phase; write it as 'Phase N: Title' or 'Phase N.M: Title', or reword it.`
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
          `${quoted(heading.text)} is a level ${heading.depth} heading; phases are '##' or '###'; change the level or reword it.`
        )
  }
  return Result.succeed(Option.some({ id, ...titleOf(rest, separator, id) }))
}

const titleOf = (rest: string, separator: string, id: string): Omit<PhaseHeading, "id"> => {
  const line = rest
    .replaceAll(/\s+/g, " ")
    .trim()
    .replace(/^[-–—]$/, "")
  // In `Phase 2 - COMPLETE` the dash is part of the separator.
  const done = donePattern.test(line) || (line === "COMPLETE" && /[-–—]/.test(separator))
  const title = done ? line.replace(donePattern, "").replace(/^COMPLETE$/, "") : line
  return { title: title === "" ? `Phase ${id}` : title, done }
}

/** Compares phase ids by their numbers: 2, 2.1, 2.10, 3. */
export const comparePhaseIds = (a: string, b: string): number => {
  const [aMajor = 0, aMinor = -1] = a.split(".").map(Number)
  const [bMajor = 0, bMinor = -1] = b.split(".").map(Number)
  return aMajor - bMajor || aMinor - bMinor
}
