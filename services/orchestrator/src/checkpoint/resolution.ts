/** What a human said at a checkpoint, in one sentence by its type (continuation: The prompt). Pure. */

import { isPass } from "@reprise/plan"
import type { CheckpointReport } from "@reprise/protocol"
import { shorten } from "../prompts.ts"

/** Longer texts are shortened: word for word they stand as guidance at the prompt's end. */
const longest = 400

/** A resolution is the chosen word, maybe with `: words` after it. An option's id may hold colons itself. */
const chosenOf = ({ options = [], type }: CheckpointReport, resolution: string): string => {
  const own = type === "decision" ? options.map(({ id }) => id) : []
  const meant = own.filter((id) => resolution === id || resolution.startsWith(`${id}:`))
  return meant.toSorted((a, b) => b.length - a.length)[0] ?? resolution.split(":", 1)[0] ?? ""
}

const wordsOf = (report: CheckpointReport, resolution: string): string =>
  resolution.slice(chosenOf(report, resolution).length).replace(/^:\s*/, "")

/** Before what is said of the next step: a line's end, a semicolon or a comma. */
const between = /[\n;,](?=[ \t]{0,8}#?\d{1,3}[ \t]{0,8}[.):=-]?[ \t]{0,8}(?:pass|fail))/i
/** `2: fail the button is missing`, `1. pass`: what was said of a numbered step. Bounded, as the text is a human's. */
const mark = /^#?(\d{1,3})[ \t]{0,8}[.):=-]?[ \t]{0,8}(pass|fail)(?:ed)?\b[\s:,-]*(.*)$/is

/** By the step's number. */
const saidOf = (words: string): ReadonlyMap<number, string> =>
  new Map(
    words.split(between).flatMap((piece) => {
      const [, number, word = "", note = ""] = mark.exec(piece.trim()) ?? []
      return number === undefined
        ? []
        : [[Number(number), `${word.toLowerCase()}${note === "" ? "" : ` (${note})`}`] as const]
    })
  )

/** Pass or fail for each step; of a failure, what was said of each as far as it was said. */
const items = (report: CheckpointReport, resolution: string): string => {
  const { verifySteps = [] } = report
  const passed = isPass(resolution)
  const words = wordsOf(report, resolution)
  const said = saidOf(words)
  if (passed && verifySteps.length > 0) {
    const each = verifySteps.map((step, index) => `${index + 1}. ${shorten(step, 60)}: pass`).join("; ")
    return words === "" ? each : `${each}. ${words}`
  }
  if (said.size > 0 && verifySteps.length > 0) {
    return verifySteps
      .map((step, index) => `${index + 1}. ${shorten(step, 60)}: ${said.get(index + 1) ?? "nothing said"}`)
      .join("; ")
  }
  return `${passed ? "pass" : "fail"}${words === "" ? "" : `: ${words}`}`
}

export const resolutionSentence = (report: CheckpointReport, resolution: string): string => {
  const words = wordsOf(report, resolution)
  const sentence = (start: string, text: string) => `${start}: ${shorten(text, longest)}`
  switch (report.type) {
    case "human-verify":
      return sentence("User confirmed", items(report, resolution))
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
