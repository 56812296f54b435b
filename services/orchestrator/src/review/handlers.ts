/** What verdicts and failed reviews lead to, and what is sent to the reviewer. */
import { send } from "@reprise/actor"
import { reviewKey, to } from "@reprise/protocol"
import {
  asJournalled,
  type Handle,
  type Handler,
  type Handlers,
  inPhase,
  nothingRecorded,
  type Reactions
} from "../run/family.ts"
import type { InputOf } from "../run/inputs.ts"
import { workOf } from "../run/state.ts"
import { reviewFailed, verdictReached } from "./review.ts"

const onReview = <Input extends InputOf<"VerdictReached" | "ReviewFailed">>(handle: Handle<Input>): Handler<Input> => ({
  record: nothingRecorded,
  move: inPhase((run, phase, input) =>
    workOf(run, "Review")?.cycle === input.cycle ? handle(run, phase, input) : undefined
  )
})

export const reviewHandlers = {
  VerdictReached: onReview(verdictReached),
  ReviewFailed: onReview(reviewFailed)
} satisfies Partial<Handlers>

export const reviewReactions = {
  ReviewAsked: (runId, { command }) => [asJournalled("reviewer", reviewKey(runId, command.phase), command)],
  ReviewInterrupted: (runId, { phase, reason }) => [
    send(to.reviewer(reviewKey(runId, phase)).InterruptReview({ runId, phase, reason }))
  ],
  ReviewClosed: (runId, { aborted, phase, reason }) => [
    send(to.reviewer(reviewKey(runId, phase)).CloseReview({ runId, phase, aborted, reason }))
  ],
  ReviewMoved: (runId, { from, phase }) => [
    send(to.reviewer(reviewKey(runId, phase)).MoveReview({ runId, phase, from }))
  ]
} satisfies Partial<Reactions>
