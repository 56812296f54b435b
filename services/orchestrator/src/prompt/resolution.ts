/** A human's answer at a checkpoint, in one sentence by the checkpoint's type (docs/design/continuation.md#the-prompt). */
import { isPass } from "@reprise/plan"
import type { CheckpointReport } from "@reprise/protocol"
import { shorten } from "../run/text.ts"

/** Longer texts are shortened; the prompt has them word for word at its end. */
const longest = 400

/** A resolution is the choice, optionally followed by `: words`. An option's id may contain colons itself. */
const chosenOf = ({ options = [], type }: CheckpointReport, resolution: string): string => {
  const own = type === "decision" ? options.map(({ id }) => id) : []
  const matching = own.filter((id) => resolution === id || resolution.startsWith(`${id}:`))
  return matching.toSorted((a, b) => b.length - a.length)[0] ?? resolution.split(":", 1)[0] ?? ""
}

const wordsOf = (report: CheckpointReport, resolution: string): string =>
  resolution.slice(chosenOf(report, resolution).length).replace(/^:\s*/, "")

/** What separates the notes on two steps: a line's end, a semicolon or a comma. */
const separator = /[\n;,](?=[ \t]{0,8}#?\d{1,3}[ \t]{0,8}[.):=-]?[ \t]{0,8}(?:pass|fail))/i
/** `2: fail the button is missing`, `1. pass`: a note on a numbered step. Bounded, since a human may write anything. */
const stepNote = /^#?(\d{1,3})[ \t]{0,8}[.):=-]?[ \t]{0,8}(pass|fail)(?:ed)?\b[\s:,-]*(.*)/is

/** The notes by the number of their step. */
const notesOf = (words: string): ReadonlyMap<number, string> =>
  new Map(
    words.split(separator).flatMap((piece) => {
      const [, number, word = "", note = ""] = stepNote.exec(piece.trim()) ?? []
      return number === undefined
        ? []
        : [[Number(number), `${word.toLowerCase()}${note === "" ? "" : ` (${note})`}`] as const]
    })
  )

/** Pass or fail for each step; after a failure, the note on each step, if there is one. */
const verification = (report: CheckpointReport, resolution: string): string => {
  const { verifySteps = [] } = report
  const passed = isPass(resolution)
  const words = wordsOf(report, resolution)
  const notes = notesOf(words)
  if (passed && verifySteps.length > 0) {
    const each = verifySteps.map((step, index) => `${index + 1}. ${shorten(step, 60)}: pass`).join("; ")
    return words === "" ? each : `${each}. ${words}`
  }
  if (notes.size > 0 && verifySteps.length > 0) {
    return verifySteps
      .map((step, index) => `${index + 1}. ${shorten(step, 60)}: ${notes.get(index + 1) ?? "no answer"}`)
      .join("; ")
  }
  return `${passed ? "pass" : "fail"}${words === "" ? "" : `: ${words}`}`
}

export const resolutionSentence = (report: CheckpointReport, resolution: string): string => {
  const words = wordsOf(report, resolution)
  const sentence = (start: string, text: string) => `${start}: ${shorten(text, longest)}`
  switch (report.type) {
    case "human-verify":
      return sentence("User confirmed", verification(report, resolution))
    case "decision":
      return sentence(`User chose Option ${chosenOf(report, resolution)}`, words === "" ? report.description : words)
    case "human-action": {
      const action = words === "" ? (report.requiredAction ?? report.description) : words
      return sentence(
        resolution.startsWith("cannot") ? "User could not complete the action" : "User confirms action completed",
        action
      )
    }
    case "architectural-change":
      return sentence("User approved approach", words === "" ? report.description : words)
  }
}
