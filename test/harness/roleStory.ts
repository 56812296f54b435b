/** What a run did and which agents did it, in a few words for each event. */
import { Effect } from "effect"
import type { PublicLine, World } from "./World.ts"

/** An event in a few words; undefined for those that say nothing about who did what. */
const wordsOf = ({ type, ...event }: PublicLine): string | undefined => {
  switch (type) {
    case "StepStarted": {
      const agent = event["agent"] as { role: string; runtime: string; rule?: { when: string } } | undefined
      const who = agent === undefined ? "" : ` ${agent.role} ${agent.runtime}`
      return `${event["step"]}${who}${agent?.rule === undefined ? "" : ` (${agent.rule.when})`}`
    }
    case "SessionCreated":
      return `  session of ${event["role"]} on ${event["runtime"]}`
    case "SessionReused":
      return "  same session"
    case "TurnCompleted":
      return "  turn completed"
    case "VerdictReached":
      return `  verdict ${(event["verdict"] as { readiness: string }).readiness}`
    case "QualityFailed":
    case "QualityPassed":
    case "CommitVerified":
    case "ContinuationVerified":
    case "PhaseCompleted":
    case "RunCompleted":
    case "RunFailed":
    case "TurnFailed":
    case "SessionReplaced":
      return `  ${type}`
    default:
      return undefined
  }
}

/** The first run of the world, and its story. */
export const roleStory = (world: World) =>
  Effect.gen(function* () {
    const [run] = yield* world.runs
    const events = yield* world.eventsOf(run?.runId ?? "")
    return { run, story: events.flatMap((event) => wordsOf(event) ?? []) }
  })
