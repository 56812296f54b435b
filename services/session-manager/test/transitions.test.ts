import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { transitions, waysOf } from "../src/machine/transitions.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import type { Session } from "../src/session/state.ts"
import {
  actor,
  answer,
  at,
  failed,
  found,
  goodReport,
  key,
  newTurn,
  nextTurn,
  opened,
  ownTurn,
  sessionId,
  startAlone
} from "./support/story.ts"

/** The inputs that may come next. */
const inputsOf = (session: Session): ReadonlyArray<SessionInput> => {
  const { turn } = session
  const number = turn?.prompt?.number ?? 1
  const reports: ReadonlyArray<SessionInput> =
    turn === undefined
      ? [
          { _tag: "ReportActivity", cause: "human", evidence: "text" },
          { _tag: "ReportIdle" },
          { _tag: "PauseIdle", useCount: session.useCount },
          { _tag: "ExpireIdle", useCount: session.useCount }
        ]
      : [
          opened(1, `ses_${session.pastTurnIds.length}`),
          found(1),
          found(1, "missing"),
          { _tag: "RecordWorking" as const, turnId: turn.request.turnId, number, evidence: "text" },
          answer(1, number, goodReport),
          answer(1, number, '{"result":"needs_human"}'),
          failed(1, number, "timeout"),
          failed(1, number, "gone"),
          failed(1, number, "session-missing"),
          { _tag: "RecordUnreachable" as const, turnId: turn.request.turnId, kind: "gone" as const, message: "x" }
        ].map((input): SessionInput => ({ ...input, turnId: turn.request.turnId }))
  const n = session.pastTurnIds.length + (turn === undefined ? 1 : 2)
  const ownTurns = session.task === undefined ? [] : [newTurn(n, { fresh: true }), nextTurn(n)].map(ownTurn)
  return [
    ...(session.status === "unknown" ? [newTurn(n), startAlone] : []),
    nextTurn(n, { onMissing: "fresh" }),
    nextTurn(n, { onMissing: "fail" }),
    ...reports,
    ...ownTurns,
    { _tag: "AbortSession", sessionId, reason: "x" },
    { _tag: "CompleteSession", sessionId },
    { _tag: "ExpireSession", sessionId }
  ]
}

/** States with the same text are explored once. */
const situation = ({ runtimeSessionId, status, task, turn, workingOutsideTurn }: Session): string =>
  JSON.stringify([
    status,
    turn?.stage,
    turn?.prompt?.kind,
    turn?.lost?.reason,
    workingOutsideTurn,
    runtimeSessionId === undefined,
    task === undefined
  ])

const explore = () => {
  const taken = new Set<string>()
  const seen = new Set<string>()
  let frontier: ReadonlyArray<Session> = [actor.initial]
  for (let depth = 0; depth < 9; depth++) {
    const next: Array<Session> = []
    for (const session of frontier) {
      for (const input of inputsOf(session)) {
        const outcome = actor.decide(session, input, { id: `run.${key}.${depth}`, key, now: at(depth) })
        const state = Result.getOrElse(outcome, () => []).reduce(actor.evolve, session)
        if (state.status !== session.status) taken.add(`${session.status} ${state.status}`)
        if (seen.has(situation(state)) || outcome._tag === "Failure") continue
        seen.add(situation(state))
        next.push(state)
      }
    }
    frontier = next
  }
  return [...taken].map((pair) => pair.replace("unknown", "start").split(" "))
}

describe("the statuses of a session", () => {
  const taken = explore()
  const ofTable = Object.values(transitions).flatMap(({ from, to }) =>
    from.flatMap((start) => to.map((end) => `${start} ${end}`))
  )

  it("change only as the table says, whatever happens in any order", () => {
    const unknown = taken.filter(([from, to]) => waysOf(from as "active", to as "active").length === 0)
    assert.deepStrictEqual(unknown, [])
  })

  it("can go every way in the table", () => {
    const went = new Set(taken.map((pair) => pair.join(" ")))
    assert.deepStrictEqual(
      ofTable.filter((pair) => !went.has(pair)),
      []
    )
  })
})
