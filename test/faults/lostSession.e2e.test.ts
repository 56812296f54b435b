import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { deleteSession } from "../harness/openCodeUser.ts"
import { makeWorld } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

describe("continuing a session that was deleted", () => {
  it.live("tells another one its conversation, says so, and goes on with your guidance", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once({ role: "author", kind: "report" }, needsHuman("Which way?")))
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> /)
      const author = yield* waitForCommand(
        Effect.map(world.sessions, (all) => all.find(({ lastActivityAt, savedAt = "" }) => savedAt >= lastActivityAt))
      )
      const calls = (yield* world.model.calls).length
      yield* deleteSession(world, author.runtimeSessionId ?? "")
      run.type("c\n")
      yield* run.waitFor(/guidance \(optional/)
      run.type("The left one\n")

      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      assert.match(ended.stdout, /Session replaced: the runtime does not know it any more/)
      const told = (yield* world.model.calls)[calls]
      assert.deepInclude(told, { role: "author", turn: 1 })
      for (const words of ["You are the author", "An earlier session worked on this", "Which way?", "The left one"]) {
        assert.include(told?.lastUser, words)
      }
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.deepStrictEqual(
        authors.map(({ sessionId, status }) => [sessionId, status]),
        [[author.sessionId, "completed"]]
      )
    })
  )
})
