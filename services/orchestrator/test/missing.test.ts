/** What the other services show of the work that a run waits for, and whether that is called missing. */
import { assert, describe, it } from "@effect/vitest"
import {
  type AwaitedWork,
  anyHost,
  EscalationId,
  type ReviewView,
  reviewerSessionIdOf,
  reviewerTurnIdOf,
  reviewKey,
  type SessionView,
  sessionIdOf,
  turnIdOf,
  type WorkspaceView
} from "@reprise/protocol"
import { type Missing, missingTurn, missingWork, type Shown } from "../src/watch/missing.ts"
import { runId } from "./support/samples.ts"
import { idleSince, sessionView } from "./support/sessionView.ts"

const sessionId = sessionIdOf(runId, 1)
const turnId = turnIdOf(runId, 3)
const turn: AwaitedWork = { _tag: "Turn", turnId, sessionId }
const agent: AwaitedWork = { _tag: "Agent", sessionId }
const review: AwaitedWork = { _tag: "Review", phase: "1" as never, cycle: 2 }
const gates: AwaitedWork = { _tag: "Workspace", command: "RunQualityGates" }

const ofReviewer = {
  sessionId: reviewerSessionIdOf(runId, "1" as never, 1),
  turnId: reviewerTurnIdOf(runId, "1" as never, 2)
}
const shownReview = (more: Partial<ReviewView>): ReviewView => ({
  ...{ reviewId: reviewKey(runId, "1" as never), runId, phase: "1" as never, status: "reviewing", cycle: 2 },
  ...{ ...ofReviewer, turns: 2, sessions: 1 },
  ...more
})
const workspace = (requests: ReadonlyArray<string>): WorkspaceView => ({
  ...{ runId, status: "active", host: anyHost },
  requests
})

const underWay: ReadonlyArray<readonly [string, AwaitedWork, Shown]> = [
  [
    "a turn that is open, however long, also while it waits for a rate limit",
    turn,
    { session: sessionView({ turnId, heldBy: "turn" }) }
  ],
  ["a turn in whose session an agent is at work", turn, { session: sessionView({ heldBy: "agent" }) }],
  ["a turn in whose session an agent asks a human", turn, { session: sessionView({ heldBy: "question" }) }],
  ["an agent that works by itself", agent, { session: sessionView({ heldBy: "agent" }) }],
  ["an agent that has begun a turn since", agent, { session: sessionView({ turnId }) }],
  [
    "a review whose turn is open",
    review,
    { review: shownReview({}), session: sessionView({ turnId: ofReviewer.turnId }) }
  ],
  ["gates that run, however long", gates, { workspace: workspace(["m1.0"]) }]
]

const missing: ReadonlyArray<readonly [string, AwaitedWork | undefined, Shown, Missing["session"], string]> = [
  [
    "a turn in an idle session",
    turn,
    { session: sessionView() },
    "usable",
    `Turn ${turnId} is not under way in session ${sessionId}: the session is idle since ${idleSince}.`
  ],
  [
    "a turn in a session that was never opened",
    turn,
    { session: sessionView({ runtimeSessionId: undefined } as object) },
    "doubtful",
    `Turn ${turnId} is not under way in session ${sessionId}: the session is idle since ${idleSince}.`
  ],
  [
    "a turn in a session that has ended",
    turn,
    { session: sessionView({ status: "expired" }) },
    "ended",
    `Turn ${turnId} is not under way in session ${sessionId}: the session is expired.`
  ],
  [
    "a turn in a session that nobody knows",
    turn,
    {},
    "ended",
    `Turn ${turnId} is not under way in session ${sessionId}: there is no such session.`
  ],
  [
    "an agent that is idle",
    agent,
    { session: sessionView() },
    "usable",
    `The agent of session ${sessionId} is no longer at work: the session is idle since ${idleSince}.`
  ],
  [
    "a review that the reviewer does not know",
    review,
    {},
    "doubtful",
    "Review 2 of phase 1 is not under way: the reviewer knows of none."
  ],
  [
    "a review whose turn is not open",
    review,
    { review: shownReview({}), session: sessionView() },
    "doubtful",
    `Review 2 of phase 1 is not under way: the reviewer waits for turn ${ofReviewer.turnId} in session ${ofReviewer.sessionId}, and the session is idle since ${idleSince}.`
  ],
  [
    "a review whose verdict was lost",
    review,
    { review: shownReview({ status: "judged" }) },
    "doubtful",
    "Review 2 of phase 1 is not under way: its verdict was reached, but did not arrive."
  ],
  [
    "a review that was not begun after the one before",
    review,
    { review: shownReview({ status: "judged", cycle: 1 }) },
    "doubtful",
    "Review 2 of phase 1 is not under way: the reviewer has not begun it."
  ],
  [
    "a review that was closed",
    review,
    { review: shownReview({ status: "closed" }) },
    "doubtful",
    "Review 2 of phase 1 is not under way: the reviewer has closed it."
  ],
  [
    "gates of which the workspace knows nothing",
    gates,
    { workspace: workspace([]) },
    "doubtful",
    `RunQualityGates is not under way in the workspace of run ${runId}: it has no request.`
  ],
  [
    "a workspace that nobody knows",
    gates,
    {},
    "doubtful",
    `RunQualityGates is not under way in the workspace of run ${runId}: there is no such workspace.`
  ],
  ["a run that waits for nothing", undefined, {}, "doubtful", "The run is running, but waits for nothing."]
]

describe("the watch over runs", () => {
  it.each(underWay)("does not call stuck: %s", (_, waitsFor, shown) => {
    assert.isUndefined(missingWork(runId, waitsFor, shown))
  })

  it.each(missing)("says what is missing: %s", (_, waitsFor, shown, session, text) => {
    assert.deepStrictEqual(missingWork(runId, waitsFor, shown), { missing: text, session })
  })

  it("says that the turn of a standalone session is missing where it is idle and nobody is asked", () => {
    const missing = `No turn is under way in it: the session is idle since ${idleSince}.`
    assert.deepStrictEqual(missingTurn(sessionView()), { missing, session: "usable" })
    const { runtimeSessionId: _, ...requested } = sessionView({ status: "requested" })
    assert.deepStrictEqual(missingTurn(requested), { missing, session: "doubtful" })
    const escalationId = EscalationId.make(`${runId}-e1`)
    const fine: ReadonlyArray<Partial<SessionView>> = [
      { turnId, heldBy: "turn" },
      { heldBy: "agent" },
      { heldBy: "question", escalationId },
      { status: "completed" }
    ]
    for (const more of fine) assert.isUndefined(missingTurn(sessionView(more)))
  })
})
