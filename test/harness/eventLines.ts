/** The public events of a run as lines that tests compare: phase, event type, and the fields that matter. */
import { GateEvent, OrchestratorEvent, ReviewEvent, WorkspaceEvent } from "@reprise/protocol"
import type { PublicLine } from "./World.ts"

const typesOf = (cases: object): ReadonlySet<string> =>
  new Set(Object.keys(cases).filter((type) => type !== "CommandRefused"))

const orchestratorTypes = typesOf(OrchestratorEvent.cases)
const gateTypes = typesOf(GateEvent.cases)
const workTypes = new Set([...typesOf(WorkspaceEvent.cases), ...typesOf(ReviewEvent.cases)])

/** The fields that tell events of one type apart. */
const details = ["step", "cause", "by", "attempt", "cycle", "sessionReused", "reason"] as const

const verdictOf = (line: PublicLine): string | undefined => {
  const { verdict } = line
  return typeof verdict === "object" && verdict !== null && "readiness" in verdict
    ? String(verdict.readiness)
    : undefined
}

const lineOf = (line: PublicLine): string =>
  [
    line.phase === undefined ? undefined : `${line.phase}`,
    line.type,
    ...details.map((name) => (line[name] === undefined ? undefined : `${line[name]}`)),
    verdictOf(line)
  ]
    .filter((part) => part !== undefined)
    .join(" ")

/** The events of the orchestrator, in order: `1 StepStarted REVIEW gates-passed 1`. */
export const runEvents = (events: ReadonlyArray<PublicLine>): ReadonlyArray<string> =>
  events.filter(({ type }) => orchestratorTypes.has(type)).map(lineOf)

/** The events of the workspace and the reviewer, in order: `1 VerdictReached 1 ready`. */
export const workEvents = (events: ReadonlyArray<PublicLine>): ReadonlyArray<string> =>
  events.filter(({ type }) => workTypes.has(type)).map(lineOf)

/** The events of the gate, in order: `4 EscalationRaised REVIEW reviewer`. */
export const gateEvents = (events: ReadonlyArray<PublicLine>): ReadonlyArray<string> =>
  events
    .filter(({ type }) => gateTypes.has(type))
    .map((line) =>
      [line.phase, line.type, line.step, line.origin ?? line.choice ?? line.reason]
        .filter((part) => part !== undefined)
        .join(" ")
    )
