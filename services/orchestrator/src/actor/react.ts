/** What a run sends: each command as it was journalled, each public event as it is. */

import { type Outgoing, publish, send } from "@reprise/actor"
import { type RunId, reviewKey } from "@reprise/protocol"
import type { EventOf, RunEvent, RunEvents } from "./journal.ts"
import type { RunState } from "./state.ts"

const closeReview = (runId: RunId, { aborted, phase, reason }: EventOf<"ReviewClosed">): Outgoing =>
  send("reviewer", reviewKey(runId, phase), { _tag: "CloseReview", runId, phase, aborted, reason })

const outgoing = (runId: RunId, event: RunEvent): ReadonlyArray<Outgoing> => {
  switch (event._tag) {
    case "WorkspaceAsked":
      return [send("workspace", runId, event.command)]
    case "AuthorAsked":
      return [send("session-manager", event.sessionId, event.command)]
    case "ReviewAsked":
      return [send("reviewer", reviewKey(runId, event.command.phase), event.command)]
    case "ReviewClosed":
      return [closeReview(runId, event)]
    case "QuestionAsked":
    case "QuestionChanged":
      return [send("gate", event.question.ask.escalationId, event.question.ask)]
    case "QuestionWithdrawn": {
      const { byGate, escalationId, reason } = event
      return byGate === true ? [] : [send("gate", escalationId, { _tag: "WithdrawEscalation", escalationId, reason })]
    }
    case "PromptReplied": {
      const { promptId, reply, sessionId } = event
      return [send("session-manager", sessionId, { _tag: "ReplyToPrompt", sessionId, promptId, reply })]
    }
    case "SessionStopped": {
      const { reason, sessionId } = event
      return [send("session-manager", sessionId, { _tag: "AbortSession", sessionId, reason })]
    }
    case "SessionReleased": {
      const { sessionId } = event
      return [send("session-manager", sessionId, { _tag: "CompleteSession", sessionId })]
    }
    case "RunStarted":
    case "PhaseStarted":
    case "StepStarted":
    case "StepWaiting":
    case "StepResumed":
    case "PhaseCompleted":
    case "RunPaused":
    case "RunResumed":
    case "RunCompleted":
    case "RunFailed":
    case "RunAborted":
    case "CheckpointReached":
    case "CheckpointResolved":
      return [publish(event)]
    default:
      return []
  }
}

export const react = (state: RunState, events: RunEvents): ReadonlyArray<Outgoing> =>
  state._tag === "NoRun" ? [] : events.flatMap((event) => outgoing(state.runId, event))
