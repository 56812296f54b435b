/** What a run waits for, for its view and for the watch over runs. */
import type { AwaitedWork } from "@reprise/protocol"
import type { Run } from "./state.ts"

/** Undefined: it is not running, or waits for nothing. */
export const awaitedWork = ({ pending, phase, status }: Run): AwaitedWork | undefined => {
  if (status !== "running") return undefined
  switch (pending._tag) {
    case "Turn":
      return { _tag: "Turn", turnId: pending.turnId, sessionId: pending.sessionId }
    case "Review":
      return phase === undefined ? undefined : { _tag: "Review", phase: phase.id, cycle: pending.cycle }
    case "Workspace":
      return { _tag: "Workspace", command: pending.command._tag }
    case "Agent":
      return { _tag: "Agent", sessionId: pending.sessionId }
    case "Answer":
    case "Nothing":
      return undefined
  }
}
