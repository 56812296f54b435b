/** The permissions that agents of a run were refused (docs/design/sessions.md#refused-permissions). */
import type { Refusal } from "@reprise/protocol"
import type { EventOf } from "../actor/journal.ts"
import type { Run } from "../actor/state.ts"
import { shorten } from "../prompts.ts"

/** More different wishes than anybody reads. */
const kept = 100

/** The same wish of the same phase and role counts up, if the same one refused it. */
export const refusalSeen = (run: Run, { phase, role, rule, text, unattended }: EventOf<"RefusalSeen">): Run => {
  const isSame = (one: Refusal) =>
    one.phase === phase && one.role === role && one.text === text && one.unattended === unattended && one.rule === rule
  const seen = {
    ...{ role, text, unattended, times: 1 },
    ...(phase === undefined ? {} : { phase }),
    ...(rule === undefined ? {} : { rule })
  }
  const refusals = run.refusals.some(isSame)
    ? run.refusals.map((one) => (isSame(one) ? { ...one, times: one.times + 1 } : one))
    : [...run.refusals, seen]
  return { ...run, refusals: refusals.slice(-kept) }
}

const named = 10
const longestText = 120

const timesText = (times: number): string => (times === 1 ? "" : ` ×${times}`)

/** What stands in the reason of a run that gave up; empty: nothing was refused. */
export const refusalsText = ({ refusals }: Pick<Run, "refusals">): string => {
  if (refusals.length === 0) return ""
  const listed = refusals.slice(0, named).map(({ text, times }) => `'${shorten(text, longestText)}'${timesText(times)}`)
  const more = refusals.length > named ? ` and ${refusals.length - named} more` : ""
  return ` (refused permissions: ${listed.join(", ")}${more})`
}
