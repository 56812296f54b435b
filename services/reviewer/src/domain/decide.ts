/** What a request, a finished turn or the end of a phase means to a Review (sessions: Reviews). */
import { type Delivery, Refusal } from "@reprise/actor"
import { type PublicEvent, type ReviewCommand, reviewerSessionIdOf, reviewerTurnIdOf } from "@reprise/protocol"
import { Result } from "effect"
import type { JournalEvent } from "./events.ts"
import type { ReviewRequest } from "./prompts.ts"
import { keyOf, type OpenReview, type Review } from "./Review.ts"
import { checkVerdict } from "./verdict.ts"

type EventOf<Tag extends PublicEvent["_tag"]> = Extract<PublicEvent, { readonly _tag: Tag }>

export type ReviewInput = ReviewCommand | EventOf<"TurnCompleted"> | EventOf<"TurnFailed">

type Decision = Result.Result<ReadonlyArray<JournalEvent>, Refusal>

const nothing: Decision = Result.succeed([])

/**
 * The first review of a phase, and any after a failed one, is in a new session; later ones in the same.
 * Asked again for what it has judged, it gives the same verdict.
 */
const requestReview = (review: Review, request: ReviewRequest): Decision => {
  const sameAs = (other: { readonly cycle: number; readonly commit: string } | undefined) =>
    other?.cycle === request.cycle && other.commit === request.commit
  if (sameAs(review.open?.request)) return nothing
  if (review.reached !== undefined && sameAs(review.reached)) return Result.succeed([review.reached])
  if (review.open !== undefined) {
    return Result.fail(
      new Refusal({
        reason: `Commit ${review.open.request.commit} is under review (cycle ${review.open.request.cycle}): wait for its verdict.`
      })
    )
  }
  const known = review.reviewer
  const turnId = reviewerTurnIdOf(request.runId, request.phase, review.turns + 1)
  const sessionId = known?.sessionId ?? reviewerSessionIdOf(request.runId, request.phase, review.sessions + 1)
  return Result.succeed([
    {
      _tag: "ReviewRequested",
      request,
      turnId,
      sessionId,
      ...(known === undefined ? {} : { lastReviewed: known.commit })
    },
    {
      _tag: "ReviewStarted",
      ...placeOf(request),
      sessionId,
      turnId,
      sessionReused: known !== undefined,
      cycle: request.cycle,
      commit: request.commit
    }
  ])
}

const placeOf = (request: ReviewRequest) => ({
  runId: request.runId,
  phase: request.phase,
  step: "REVIEW" as const
})

const turnCompleted = (review: Review, event: EventOf<"TurnCompleted">): Decision => {
  const open = requireOpenTurn(review, event.turnId)
  if (open === undefined) return nothing
  const verdict = checkVerdict(event.verdict)
  if (Result.isFailure(verdict)) return failed(open, "invalid-report", verdict.failure)
  return Result.succeed([
    {
      _tag: "VerdictReached",
      ...placeOf(open.request),
      sessionId: open.sessionId,
      turnId: open.turnId,
      verdict: verdict.success,
      commit: open.request.commit,
      cycle: open.request.cycle
    }
  ])
}

const turnFailed = (review: Review, event: EventOf<"TurnFailed">): Decision => {
  const open = requireOpenTurn(review, event.turnId)
  return open === undefined ? nothing : failed(open, event.kind, event.message)
}

/** The open review if it is this turn that it waits for. */
const requireOpenTurn = (review: Review, turnId: string): OpenReview | undefined =>
  review.open?.turnId === turnId ? review.open : undefined

/** The session is forgotten with the failure: the retry is fresh. */
const failed = (open: OpenReview, kind: EventOf<"TurnFailed">["kind"], reason: string): Decision =>
  Result.succeed([
    {
      _tag: "ReviewFailed",
      ...placeOf(open.request),
      sessionId: open.sessionId,
      turnId: open.turnId,
      reason,
      kind,
      cycle: open.request.cycle
    },
    { _tag: "ReviewerForgotten", sessionId: open.sessionId, aborted: false, reason: `its review failed: ${reason}` }
  ])

const closeReview = (review: Review, command: Extract<ReviewCommand, { readonly _tag: "CloseReview" }>): Decision => {
  if (review.runId === undefined) {
    return Result.fail(new Refusal({ reason: `Phase ${command.phase} of run ${command.runId} was never reviewed.` }))
  }
  const sessionId = review.open?.sessionId ?? review.reviewer?.sessionId
  if (sessionId === undefined) return nothing
  // A turn that still runs has nobody left to report to.
  const aborted = command.aborted || review.open !== undefined
  return Result.succeed([{ _tag: "ReviewerForgotten", sessionId, aborted, reason: command.reason }])
}

/** Turns come by their run and phase; a command may have been sent anywhere. */
const strayCommand = (input: ReviewInput, { key }: Delivery): Decision | undefined => {
  if (input._tag !== "RequestReview" && input._tag !== "CloseReview") return undefined
  const own = keyOf(input.runId, input.phase)
  return own === key
    ? undefined
    : Result.fail(
        new Refusal({
          reason: `The message for ${key} names phase ${input.phase} of run ${input.runId}: that is ${own}.`
        })
      )
}

export const decide = (review: Review, input: ReviewInput, delivery: Delivery): Decision => {
  const stray = strayCommand(input, delivery)
  if (stray !== undefined) return stray
  switch (input._tag) {
    case "RequestReview":
      return requestReview(review, input)
    case "TurnCompleted":
      return turnCompleted(review, input)
    case "TurnFailed":
      return turnFailed(review, input)
    case "CloseReview":
      return closeReview(review, input)
  }
}
