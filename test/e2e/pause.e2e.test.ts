import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { heldInMidTurn, plan } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("reprise pause --now", () => {
  it.live("interrupts the author in the middle of its turn, and the next run goes on in the same conversation", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: heldInMidTurn })
      const run = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitHeld("mid-turn")
      const [running] = yield* world.runs
      const paused = yield* world.reprise("pause", running?.runId ?? "", "--now")
      assert.strictEqual(paused.code, 0, paused.stderr)
      yield* run.ended
      const [held] = yield* world.runs
      assert.strictEqual(held?.status, "paused")
      assert.isAbove(held?.usage.author.calls ?? 0, 0, "what the interrupted turn used is counted")

      const again = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(again.code, 0, again.stderr)
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.strictEqual(authors.length, 1)
      const calls = (yield* world.model.calls).filter(({ role }) => role === "author")
      const goesOn = calls.find(({ kind }) => kind === "continue")
      assert.strictEqual(goesOn?.session, calls[0]?.session)
      const [first, second] = goesOn?.messages.filter(({ role }) => role === "user").map(({ text }) => text) ?? []
      assert.include(first, "You are the author of phase 1")
      assert.include(second, "Continue the current session and complete all remaining tasks.")
    })
  )
})
