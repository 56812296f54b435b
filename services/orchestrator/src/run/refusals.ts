/** What agents and quality gates of a run were refused (docs/design/sessions.md#refused-permissions). */
import type { GateResult, PhaseId, Refusal } from "@reprise/protocol"
import type { EventOf, RunEvents } from "./journal.ts"
import type { Run } from "./state.ts"
import { shorten } from "./text.ts"

/** More different wishes than anybody reads. */
const kept = 100

/** The same wish of the same phase, role and gate counts up, if the same one refused it. */
export const refusalSeen = (run: Run, { _tag: _, ...refused }: EventOf<"RefusalSeen">): Run => {
  const { gate, phase, role, rule, sandbox, text, unattended } = refused
  const isSame = (one: Refusal) =>
    one.phase === phase &&
    one.role === role &&
    one.text === text &&
    one.unattended === unattended &&
    one.rule === rule &&
    one.sandbox === sandbox &&
    one.gate === gate
  const seen: Refusal = { ...refused, times: 1 }
  const refusals = run.refusals.some(isSame)
    ? run.refusals.map((one) => (isSame(one) ? { ...one, times: one.times + 1 } : one))
    : [...run.refusals, seen]
  return { ...run, refusals: refusals.slice(-kept) }
}

/** What the sandbox refused to the commands of quality gates. */
export const gateRefusals = (phase: PhaseId, results: ReadonlyArray<GateResult>): RunEvents =>
  results.flatMap(({ command: gate, refused = [] }) =>
    refused.map((one) => ({
      _tag: "RefusalSeen" as const,
      phase,
      role: "author" as const,
      unattended: true,
      gate,
      ...one
    }))
  )

const named = 10
const longestText = 120

const timesText = (times: number): string => (times === 1 ? "" : ` ×${times}`)

/** What stands in the reason of a run that gave up; empty: nothing was refused. */
export const refusalsText = ({ refusals }: Pick<Run, "refusals">): string => {
  const parts = [
    ...listText(
      "refused permissions",
      refusals.filter(({ sandbox }) => sandbox === undefined)
    ),
    ...listText(
      "refused by the sandbox",
      refusals.filter(({ sandbox }) => sandbox !== undefined)
    )
  ]
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`
}

const listText = (what: string, refusals: ReadonlyArray<Refusal>): ReadonlyArray<string> => {
  if (refusals.length === 0) return []
  const listed = refusals.slice(0, named).map(({ text, times }) => `'${shorten(text, longestText)}'${timesText(times)}`)
  const more = refusals.length > named ? ` and ${refusals.length - named} more` : ""
  return [`${what}: ${listed.join(", ")}${more}`]
}
