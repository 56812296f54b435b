/** A standalone session begins: a session of no run, which carries its own id wherever a run's id is named. */
import type { Delivery } from "@reprise/actor"
import { RunId, type SessionCommand, type TurnLimits, turnIdOf } from "@reprise/protocol"
import { Result } from "effect"
import type { EventOf, JournalEvent, SessionDetails, TurnRequest } from "../events.ts"
import { type Decision, notAbsolute, refuse } from "../guards.ts"
import type { Session } from "../Session.ts"

type StartSession = Extract<SessionCommand, { readonly _tag: "StartSession" }>

const longestTitle = 80

/** A budget leaves a turn what is left of it. */
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
  turn: { ...turn, turnId: turnIdOf(details.runId, session.turnsAsked + 1) },
  begin,
  at: delivery.now
})

/** Asked for again it changes nothing; another task under the same id is refused. */
export const startSession = (session: Session, command: StartSession, delivery: Delivery): Decision => {
  const { directory, host, limits, model, permissions, prompt, prompts, runtime, sessionId } = command
  if (session.status !== "unknown") {
    return session.details?.standalone === true && session.details.wholePrompt === prompt
      ? Result.succeed([])
      : refuse(`Session ${sessionId} exists already (${session.status}): a new session needs an id of its own.`)
  }
  const wrongPlace = notAbsolute(directory)
  if (wrongPlace !== undefined) return wrongPlace
  if (prompt.trim() === "") return refuse("A session needs to be told what to do: its prompt is empty.")
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
  const started: ReadonlyArray<JournalEvent> = [nextTurn(session, details, turn, "open", delivery)]
  return Result.succeed(started)
}
