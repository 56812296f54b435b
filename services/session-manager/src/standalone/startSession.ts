/** A standalone session starts: it belongs to no run, and uses its own id wherever an event names a run. */
import type { Delivery } from "@reprise/actor"
import { RunId, type SessionCommand, type TurnLimits, turnIdOf } from "@reprise/protocol"
import { Result } from "effect"
import { type Decision, nothing, refuse, requireAbsoluteDirectory } from "../actor/guards.ts"
import type { EventOf, SessionDetails, TurnRequest } from "../actor/journal.ts"
import type { Session } from "../actor/state.ts"

type StartSession = Extract<SessionCommand, { readonly _tag: "StartSession" }>

const longestTitle = 80

/** A turn may use what is left of the session's budget. */
const limitsLeft = (session: Session, limits: TurnLimits, budget: number | undefined): TurnLimits => {
  if (budget === undefined) return limits
  const { cacheRead, cacheWrite, input, output, reasoning } = session.tokens
  return { ...limits, maxTokens: Math.max(1, budget - (input + output + reasoning + cacheRead + cacheWrite)) }
}

/** The next turn of a standalone session. */
export const nextTurn = (
  session: Session,
  details: SessionDetails,
  turn: Omit<TurnRequest, "turnId">,
  begin: EventOf<"TurnRequested">["begin"],
  delivery: Delivery
): EventOf<"TurnRequested"> => ({
  _tag: "TurnRequested",
  session: { ...details, limits: limitsLeft(session, details.limits, details.budget) },
  turn: { ...turn, turnId: turnIdOf(details.runId, session.turnsRequested + 1) },
  begin,
  at: delivery.now
})

/** The same command again changes nothing; another task under the same id is refused. */
export const startSession = (session: Session, command: StartSession, delivery: Delivery): Decision => {
  const { directory, host, limits, model, permissions, prompt, prompts, runtime, sessionId } = command
  if (session.status !== "unknown") {
    return session.details?.standalone === true && session.details.wholePrompt === prompt
      ? nothing
      : refuse(
          "exists",
          `Session ${sessionId} exists already (${session.status}): a new session needs an id of its own.`
        )
  }
  if (prompt.trim() === "") return refuse("invalid", "The prompt is empty: say what the session is to do.")
  const details: SessionDetails = {
    sessionId,
    runId: RunId.make(sessionId),
    role: "author",
    runtime,
    ...(model === undefined ? {} : { model }),
    directory,
    host,
    permissions,
    title: (prompt.trim().split("\n")[0] ?? "").slice(0, longestTitle),
    report: "author-status",
    ...(prompts === undefined ? {} : { prompts }),
    limits,
    wholePrompt: prompt,
    standalone: true,
    ...(limits.maxTokens === undefined ? {} : { budget: limits.maxTokens })
  }
  const turn = { prompt, freshPrompt: prompt, onMissing: "fail" as const, reason: "start" }
  return Result.map(requireAbsoluteDirectory(directory), () => [nextTurn(session, details, turn, "open", delivery)])
}
