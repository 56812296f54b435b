// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { heldInMidTurn, plan } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("two processes in one repository", () => {
  it.live("the second follows the run of the first, and takes it over when the first is killed", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), script: heldInMidTurn })
      const first = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitHeld("mid-turn")
      const second = yield* world.start("run", "PLAN.md")
      yield* second.waitFor(/Continuing run/)
      const asked = (yield* world.model.calls).length
      yield* first.kill("SIGKILL")
      yield* second.waitFor(/continuing here/)
      // Only after the new process has asked: the old runtime may outlive its owner by a moment.
      yield* world.model.awaitCall(({ sequence }) => sequence > asked)
      yield* world.model.release("mid-turn")
      const ended = yield* second.ended
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.strictEqual(
        world
          .git("log", "--format=%s")
          .split("\n")
          .filter((line) => line === "Write it").length,
        1
      )
      assert.strictEqual((yield* world.runs).length, 1)
    })
  )

  it.live("SIGTERM parks the run, and the next `reprise run` continues in the same session", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), script: heldInMidTurn })
      const first = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitHeld("mid-turn")
      const asked = (yield* world.model.calls).length
      const parked = yield* first.kill("SIGTERM")
      assert.strictEqual(parked.code, 143, parked.stderr)
      const second = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitCall(({ sequence }) => sequence > asked)
      yield* world.model.release("mid-turn")
      const ended = yield* second.ended
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.strictEqual((yield* world.sessions).filter(({ role }) => role === "author").length, 1)
    })
  )
})
