/** A run's public events as lines that a test can compare: the type, where, and what is special about it. */
import { GateEvent, OrchestratorEvent, ReviewEvent, WorkspaceEvent } from "@reprise/protocol"
import type { PublicLine } from "./World.ts"

const typesOf = (cases: object): ReadonlySet<string> =>
  new Set(Object.keys(cases).filter((type) => type !== "CommandRefused"))

const machine = typesOf(OrchestratorEvent.cases)
const gate = typesOf(GateEvent.cases)
const work = new Set([...typesOf(WorkspaceEvent.cases), ...typesOf(ReviewEvent.cases)])

/** What tells one event of a type from another. */
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

/** The run machine's own events, in their order: `1 StepStarted REVIEW gates-passed 1`. */
export const steps = (events: ReadonlyArray<PublicLine>): ReadonlyArray<string> =>
  events.filter(({ type }) => machine.has(type)).map(lineOf)

/** What workspace and reviewer did, in their order: `1 VerdictReached 1 ready`. */
export const works = (events: ReadonlyArray<PublicLine>): ReadonlyArray<string> =>
  events.filter(({ type }) => work.has(type)).map(lineOf)

/** What was asked at the gate and how it was closed: `4 EscalationRaised REVIEW reviewer`. */
export const questions = (events: ReadonlyArray<PublicLine>): ReadonlyArray<string> =>
  events
    .filter(({ type }) => gate.has(type))
    .map((line) =>
      [line.phase, line.type, line.step, line.origin ?? line.choice ?? line.reason]
        .filter((part) => part !== undefined)
        .join(" ")
    )
