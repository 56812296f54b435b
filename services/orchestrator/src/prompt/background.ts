/** What every fresh author is told besides its task: the project, the phases before, and the decisions of humans. */
import { quote } from "@reprise/plan/quote"
import { decisionLine, decisionsOf } from "../run/ledger.ts"
import type { Run } from "../run/state.ts"
import { render } from "./templates.ts"

/** A prompt does not grow with the run: the newest of each are listed. */
const summariesListed = 10
const decisionsListed = 20

const listed = (introduction: string, lines: ReadonlyArray<string>, longest: number, rest: string): string => {
  if (lines.length === 0) return ""
  const more = lines.length - longest
  return `\n\n${[introduction, ...(more > 0 ? [`- ${more} ${rest}`] : []), ...lines.slice(-longest)].join("\n")}`
}

const summaryLines = ({ outcomes }: Run): ReadonlyArray<string> =>
  outcomes.flatMap(({ id, summary }) => (summary === undefined ? [] : [`- phase ${id}: ${summary}`]))

const decisionLines = ({ ledger, phase }: Run): ReadonlyArray<string> =>
  decisionsOf(ledger).map((entry) => quote(decisionLine(entry, phase?.id)))

export const backgroundText = (run: Run): string =>
  render(run, "background", {
    summaries: listed(
      "Read the summaries of the phases before this one:",
      summaryLines(run),
      summariesListed,
      "earlier ones, which lie beside these"
    ),
    decisions: listed(
      "Decided in this run, newest last: what an agent asked and what was answered. The answers hold:",
      decisionLines(run),
      decisionsListed,
      "earlier ones, which are in the summaries"
    )
  })
