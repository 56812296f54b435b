/** Whether what a run waits for is under way, by what the other services show, and else what is missing. Pure. */
import type { AwaitedWork, ReviewView, SessionView, WorkspaceView } from "@reprise/protocol"
import type { InputOf } from "../run/inputs.ts"

/** What the other services show; absent: they know nothing of it. */
export interface Shown {
  /** The session of the turn, of the agent or of the reviewer's turn. */
  readonly session?: SessionView | undefined
  readonly review?: ReviewView | undefined
  readonly workspace?: WorkspaceView | undefined
}

export type Missing = Pick<InputOf<"ReportStuck">, "missing" | "session">

const ended: ReadonlyArray<SessionView["status"]> = ["expired", "completed", "aborted", "failed"]

/** In a turn, also while it waits for a rate limit or for a human; by itself; or asking. */
const isAtWork = (session: SessionView | undefined): boolean =>
  session !== undefined &&
  !ended.includes(session.status) &&
  (session.turnId !== undefined || session.heldBy === "agent" || session.heldBy === "question")

const sessionState = (session: SessionView | undefined): Missing["session"] => {
  if (session === undefined || ended.includes(session.status)) return "ended"
  return session.runtimeSessionId === undefined ? "doubtful" : "usable"
}

const stateText = (session: SessionView | undefined): string => {
  if (session === undefined) return "there is no such session"
  const { lastActivityAt, status } = session
  return ended.includes(status) ? `the session is ${status}` : `the session is idle since ${lastActivityAt}`
}

/** What is missing of a standalone session that should be in a turn, and is not; undefined: it is, or a human is asked. */
export const missingTurn = (session: SessionView): Missing | undefined =>
  isAtWork(session) || session.escalationId !== undefined || ended.includes(session.status)
    ? undefined
    : { missing: `No turn is under way in it: ${stateText(session)}.`, session: sessionState(session) }

type Review = Extract<AwaitedWork, { readonly _tag: "Review" }>

/** Undefined: it is under way. */
const reviewText = ({ cycle }: Review, { review, session }: Shown): string | undefined => {
  if (review === undefined) return "the reviewer knows of none"
  const { sessionId, status, turnId } = review
  switch (status) {
    case "reviewing":
      return isAtWork(session)
        ? undefined
        : `the reviewer waits for turn ${turnId} in session ${sessionId}, and ${stateText(session)}`
    case "judged":
      return review.cycle === cycle ? "its verdict was reached, but did not arrive" : "the reviewer has not begun it"
    case "closed":
      return "the reviewer has closed it"
  }
}

/** Undefined: what the run waits for is under way. */
export const missingWork = (runId: string, waitsFor: AwaitedWork | undefined, shown: Shown): Missing | undefined => {
  if (waitsFor === undefined) return { missing: "The run is running, but waits for nothing.", session: "doubtful" }
  const { session, workspace } = shown
  switch (waitsFor._tag) {
    case "Turn": {
      const { sessionId, turnId } = waitsFor
      if (isAtWork(session)) return undefined
      const missing = `Turn ${turnId} is not under way in session ${sessionId}: ${stateText(session)}.`
      return { missing, session: sessionState(session) }
    }
    case "Agent": {
      const { sessionId } = waitsFor
      if (isAtWork(session)) return undefined
      const missing = `The agent of session ${sessionId} is no longer at work: ${stateText(session)}.`
      return { missing, session: sessionState(session) }
    }
    case "Review": {
      const text = reviewText(waitsFor, shown)
      const missing = `Review ${waitsFor.cycle} of phase ${waitsFor.phase} is not under way: ${text}.`
      return text === undefined ? undefined : { missing, session: "doubtful" }
    }
    case "Workspace": {
      if (workspace !== undefined && workspace.requests.length > 0) return undefined
      const what = workspace === undefined ? "there is no such workspace" : "it has no request"
      const missing = `${waitsFor.command} is not under way in the workspace of run ${runId}: ${what}.`
      return { missing, session: "doubtful" }
    }
  }
}
