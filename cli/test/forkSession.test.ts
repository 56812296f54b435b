import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { requireTurn } from "../src/flows/forks/beginFork.ts"
import { aSession } from "./support/views.ts"

const endedAt = "2026-01-01T00:00:00.000Z"
const turns = (...numbers: ReadonlyArray<number>) =>
  numbers.map((turn) => ({ turn, turnId: `r1-t${turn}`, runtimeSessionId: "ses_1", promptId: `msg_${turn}`, endedAt }))
const found = (session: Record<string, unknown>, at?: number) =>
  Effect.runSync(Effect.result(requireTurn(aSession(session), Option.fromUndefinedOr(at))))

describe("the turn after which a session is forked", () => {
  it.each([
    ["the last one that has ended", { pastTurns: turns(1, 2), turnId: "r1-t3" }, undefined, 2],
    ["the one that is named", { pastTurns: turns(1, 2) }, 1, 1]
  ])("is %s", (_, session, at, turn) => {
    const chosen = found(session, at)
    assert.strictEqual(Result.isSuccess(chosen) ? chosen.success.turn : undefined, turn)
  })

  it.each([
    [{ status: "requested" }, undefined, "nothing-to-fork", "no turn of it has ended", "reprise sessions start"],
    [{ turnId: "r1-t1" }, undefined, "nothing-to-fork", "no turn of it has ended", "Wait for the end"],
    [{ pastTurns: turns(2, 3, 4) }, 1, "unknown-turn", "it can be forked after turns 2 to 4.", "lists them"],
    [{ pastTurns: turns(1) }, 0, "unknown-turn", "it can be forked after turn 1.", "lists them"]
  ])("is refused with the next step where there is none such: %o", (session, at, code, message, hint) => {
    const refused = found(session, at)
    if (Result.isSuccess(refused)) return assert.fail("It was found.")
    assert.deepInclude(refused.failure, { code, exitCode: 2 })
    assert.include(refused.failure.message, message)
    assert.include(refused.failure.hint, hint)
  })
})
