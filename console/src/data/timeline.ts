/** The story of a run as people read it: phases, in them steps, in those what happened. Pure. */
import type { ConsoleEvent, PublicEvent, Step, Usage } from "@reprise/protocol"
import { addUsage, noUsage } from "@reprise/protocol"

type EventOf<Tag extends PublicEvent["_tag"]> = Extract<PublicEvent, { readonly _tag: Tag }>

/** A step of a phase, with all that happened until the next one began. */
export interface StepEntry {
  readonly sequence: number
  readonly step: Step
  readonly attempt: number
  readonly startedAt: string
  /** Absent: it goes on. */
  readonly endedAt?: string
  /** Whether the author continued its session, and why not. */
  readonly session?: EventOf<"StepStarted">["session"]
  /** Who does it, where not all agents of the run are the same. */
  readonly agent?: EventOf<"StepStarted">["agent"]
  /** How often and how long it waited for a human. */
  readonly waits: ReadonlyArray<{ readonly escalationId: string; readonly from: string; readonly until?: string }>
  /** The turns' ends. */
  readonly usage: Usage
  readonly sessions: ReadonlyArray<string>
  readonly events: ReadonlyArray<ConsoleEvent>
}

export interface PhaseEntry {
  /** Undefined: what happened before the first phase. */
  readonly id: string | undefined
  readonly title: string
  readonly outcome?: EventOf<"PhaseCompleted">
  readonly steps: ReadonlyArray<StepEntry>
}

/** Adds events that are newer than the last one; repeats are left out. */
export const withNewer = (
  story: ReadonlyArray<ConsoleEvent>,
  events: ReadonlyArray<ConsoleEvent>
): ReadonlyArray<ConsoleEvent> => {
  const last = story.at(-1)?.sequence ?? 0
  const newer = events.filter(({ sequence }) => sequence > last)
  return newer.length === 0 ? story : [...story, ...newer]
}

interface Draft {
  readonly id: string | undefined
  title: string
  outcome?: EventOf<"PhaseCompleted">
  readonly steps: Array<{
    readonly sequence: number
    readonly step: Step
    readonly attempt: number
    readonly startedAt: string
    endedAt?: string
    session?: EventOf<"StepStarted">["session"]
    agent?: EventOf<"StepStarted">["agent"]
    readonly waits: Array<{ escalationId: string; from: string; until?: string }>
    usage: Usage
    readonly sessions: Set<string>
    readonly events: Array<ConsoleEvent>
  }>
}

/** A question names its session too, but nothing happens there. */
const isOfSession = (event: PublicEvent): event is EventOf<"SessionCreated" | "SessionReused" | "TurnStarted"> =>
  event._tag === "SessionCreated" || event._tag === "SessionReused" || event._tag === "TurnStarted"

const isEnd = ({ _tag }: PublicEvent): boolean =>
  _tag === "RunCompleted" || _tag === "RunFailed" || _tag === "RunAborted" || _tag === "RunPaused"

/** The steps in their order, below their phases. */
export const timelineOf = (story: ReadonlyArray<ConsoleEvent>): ReadonlyArray<PhaseEntry> => {
  const phases: Array<Draft> = []
  const phaseOf = (id: string | undefined, title = ""): Draft => {
    const last = phases.at(-1)
    if (last !== undefined && last.id === id) return last
    const known = phases.find((one) => one.id === id)
    if (known !== undefined) return known
    const made: Draft = { id, title, steps: [] }
    phases.push(made)
    return made
  }
  let current: Draft["steps"][number] | undefined
  const close = (at: string) => {
    if (current !== undefined) current.endedAt ??= at
  }
  for (const seen of story) {
    const { event, sequence, time } = seen
    const phase = "phase" in event ? event.phase : undefined
    switch (event._tag) {
      case "PhaseStarted":
        phaseOf(phase, event.title)
        break
      case "StepStarted": {
        close(time)
        current = {
          sequence,
          step: event.step,
          attempt: event.attempt,
          startedAt: time,
          ...(event.session === undefined ? {} : { session: event.session }),
          ...(event.agent === undefined ? {} : { agent: event.agent }),
          waits: [],
          usage: noUsage,
          sessions: new Set(),
          events: []
        }
        phaseOf(phase).steps.push(current)
        continue
      }
      case "PhaseCompleted":
        phaseOf(phase).outcome = event
        break
      case "EscalationRaised":
        current?.waits.push({ escalationId: event.escalationId, from: time })
        break
      case "EscalationAnswered":
      case "EscalationWithdrawn": {
        const open = phases
          .flatMap(({ steps }) => steps)
          .flatMap(({ waits }) => waits)
          .find(({ escalationId, until }) => escalationId === event.escalationId && until === undefined)
        if (open !== undefined) open.until = time
        break
      }
      case "TurnCompleted":
      case "TurnFailed":
        if (current !== undefined) current.usage = addUsage(current.usage, event)
        break
    }
    if (current === undefined) continue
    if (isOfSession(event)) current.sessions.add(event.sessionId)
    current.events.push(seen)
    if (isEnd(event)) close(time)
  }
  return phases.map(({ steps, ...phase }) => ({
    ...phase,
    steps: steps.map((step) => ({ ...step, sessions: [...step.sessions] }))
  }))
}

/** Milliseconds that the step took, without its waits for a human. */
export const workedMs = ({ endedAt, startedAt, waits }: StepEntry, nowMs: number): number => {
  const end = endedAt === undefined ? nowMs : Date.parse(endedAt)
  const waited = waits.reduce(
    (sum, { from, until }) => sum + Math.max(0, (until === undefined ? nowMs : Date.parse(until)) - Date.parse(from)),
    0
  )
  return Math.max(0, end - Date.parse(startedAt) - waited)
}
