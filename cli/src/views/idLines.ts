/** The ids that shells offer, each with a description: a line has both with a tab between. Pure. */
import type { EscalationView, RunView, SessionView } from "@reprise/protocol"
import type { IdKind } from "../terminal/idKinds.ts"
import { isOpenRun, isOver } from "./ended.ts"
import { firstLine } from "./table.ts"

export type IdLines = Readonly<Record<IdKind, ReadonlyArray<string>>>

/** More than a human reads. */
const mostLines = 100

interface Entry {
  readonly id: string
  readonly about: ReadonlyArray<string | undefined>
  /** ISO time. */
  readonly since: string
}

/** The newest first. */
const linesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> =>
  entries
    .toSorted((a, b) => b.since.localeCompare(a.since))
    .slice(0, mostLines)
    .map(({ about, id }) => {
      const words = about.filter((word) => word !== undefined && word !== "")
      return `${id}\t${firstLine(words.join(", ")).replaceAll("\t", " ")}`
    })

const phaseOf = (phase: string | undefined) => (phase === undefined ? undefined : `phase ${phase}`)

const ofRun = ({ phase, planPath, runId, startedAt, status }: RunView): Entry => ({
  id: runId,
  about: [planPath, status, phaseOf(phase)],
  since: startedAt
})

const ofSession = ({ createdAt, phase, prompt, role, sessionId, status }: SessionView): Entry => ({
  id: sessionId,
  about: [prompt ?? role, phaseOf(phase), status],
  since: createdAt
})

const ofQuestion = ({ escalationId, raisedAt, reason }: EscalationView): Entry => ({
  id: escalationId,
  about: [reason],
  since: raisedAt
})

export const idLines = (
  runs: ReadonlyArray<RunView>,
  sessions: ReadonlyArray<SessionView>,
  questions: ReadonlyArray<EscalationView>
): IdLines => ({
  runs: linesOf(runs.map(ofRun)),
  "open-runs": linesOf(runs.filter(isOpenRun).map(ofRun)),
  sessions: linesOf(sessions.map(ofSession)),
  "open-sessions": linesOf(sessions.filter((session) => !isOver(session)).map(ofSession)),
  questions: linesOf(questions.filter(({ state }) => state === "open").map(ofQuestion))
})
