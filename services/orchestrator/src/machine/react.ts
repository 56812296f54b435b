/** What a run sends: each command as it was journalled, each public event as it is. Other events concern the run alone. */
import { type Outgoing, publish } from "@reprise/actor"
import { OrchestratorEvent, type RunId, SessionId } from "@reprise/protocol"
import { authorReactions } from "../author/evolve.ts"
import { phaseReactions } from "../phase/evolve.ts"
import { questionReactions } from "../question/handlers.ts"
import { reviewReactions } from "../review/handlers.ts"
import type { Reactions } from "../run/family.ts"
import type { EventOf, PublicType, RunEvent, RunEvents, SentType } from "../run/journal.ts"
import { isShown } from "../run/standalone.ts"
import type { Run, RunState } from "../run/state.ts"

export const reactions: Reactions = {
  ...authorReactions,
  ...reviewReactions,
  ...phaseReactions,
  ...questionReactions
}

const isSent = (event: RunEvent): event is EventOf<SentType> => event._tag in reactions
const isPublic = (event: RunEvent): event is EventOf<PublicType> => event._tag in OrchestratorEvent.cases

const sentFor = <Tag extends SentType>(runId: RunId, tag: Tag, event: EventOf<Tag>): ReadonlyArray<Outgoing> =>
  reactions[tag](runId, event)

const reactTo = (runId: RunId, event: RunEvent): ReadonlyArray<Outgoing> => {
  if (isSent(event)) return sentFor(runId, event._tag, event)
  return isPublic(event) ? [publish(event)] : []
}

/**
 * People see the session of a standalone run and its questions. Of the run itself they see only that it waits, and that
 * it goes on.
 */
const visible = (run: Run, message: Outgoing): ReadonlyArray<Outgoing> => {
  if (isShown(run) || message._tag !== "PublishEvent") return [message]
  const { event } = message
  if (event._tag !== "StepWaiting" && event._tag !== "StepResumed") return []
  const { step: _, ...told } = event
  return [publish({ ...told, sessionId: SessionId.make(run.runId) })]
}

export const react = (state: RunState, events: RunEvents): ReadonlyArray<Outgoing> =>
  state._tag === "NoRun"
    ? []
    : events.flatMap((event) => reactTo(state.runId, event)).flatMap((message) => visible(state, message))
