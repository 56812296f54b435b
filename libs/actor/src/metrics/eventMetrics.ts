/** What published events add to the metrics. An event is counted where it is decided, so once over all replicas. */
import type { FailureKind, PublicEvent, Role, Usage } from "@reprise/protocol"
import { record, type Sample, sample, tokenKinds } from "./metrics.ts"

interface Used extends Partial<Pick<Usage, "tokens" | "cost">> {
  /** Earlier versions did not tell it. */
  readonly role?: Role
  readonly fixer?: boolean
}

/** The fixer works in a session of an author, and is counted as itself. */
const roleOf = ({ fixer, role }: Used) => (fixer === true ? "fixer" : (role ?? "unknown"))

const usage = ({ cost = 0, tokens, ...used }: Used): ReadonlyArray<Sample> => [
  ...tokenKinds.flatMap((kind) => {
    const count = tokens?.[kind] ?? 0
    return count > 0 ? [sample("reprise_tokens_total", { role: roleOf(used), kind }, count)] : []
  }),
  ...(cost > 0 ? [sample("reprise_cost_dollars_total", { role: roleOf(used) }, cost)] : [])
]

const turn = (event: Used & { readonly duration: number }, outcome: "completed" | FailureKind) => [
  sample("reprise_turns_total", { role: roleOf(event), outcome }),
  sample("reprise_turn_seconds", { role: roleOf(event) }, event.duration / 1_000),
  ...usage(event)
]

const ended = (outcome: "completed" | "failed" | "aborted") => [sample("reprise_runs_ended_total", { outcome })]
const session = (use: "created" | "reused" | "replaced") => [sample("reprise_sessions_total", { use })]
const question = (outcome: "raised" | "answered" | "withdrawn") => [sample("reprise_questions_total", { outcome })]

export const samplesOf = (event: PublicEvent): ReadonlyArray<Sample> => {
  switch (event._tag) {
    case "RunStarted":
      return [sample("reprise_runs_started_total", {})]
    case "RunCompleted":
      return ended("completed")
    case "RunFailed":
      return ended("failed")
    case "RunAborted":
      return ended("aborted")
    case "StepStarted":
      return [sample("reprise_steps_total", { step: event.step })]
    case "EscalationRaised":
      return question("raised")
    case "EscalationAnswered":
      return question("answered")
    case "EscalationWithdrawn":
      return question("withdrawn")
    case "SessionCreated":
      return session("created")
    case "SessionReused":
      return session("reused")
    case "SessionReplaced":
      return session("replaced")
    case "TurnCompleted":
      return turn(event, "completed")
    case "TurnFailed":
      return turn(event, event.kind)
    case "UsageCounted":
      return usage(event)
    default:
      return []
  }
}

/** Records what was just decided. */
export const recordEvents = (events: ReadonlyArray<PublicEvent>): void => {
  for (const event of events) for (const one of samplesOf(event)) record(one)
}
