// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { heldInMidTurn, plan, twoQuestions } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("reprise up", () => {
  it.live("continues parked runs when they are answered, and parks them when it is stopped", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(twoQuestions)
      const first = yield* world.start("up")
      yield* first.waitFor(/Serving .*\n.*No open run/)
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [colour] = yield* world.questions
      yield* world.reprise("gate", "answer", colour?.escalationId ?? "", "c", "--guidance", "Blue")
      yield* first.waitFor(/Run completed/)

      const second = yield* world.reprise("run", "OTHER.md")
      assert.strictEqual(second.code, 4, second.stderr)
      const stopped = yield* first.kill("SIGINT")
      assert.strictEqual(stopped.code, 130, stopped.stderr)
      const [size] = yield* world.questions
      assert.strictEqual(size?.reason, "Which size?", "the question outlives the process")

      const again = yield* world.start("up", "--json")
      yield* world.reprise("gate", "answer", size?.escalationId ?? "", "fix")
      yield* again.waitFor(/"type":"RunCompleted"/)
      const runs = yield* world.runs
      assert.deepStrictEqual(
        runs.map(({ status }) => status),
        ["completed", "completed"]
      )
      for (const line of again.stdout.trim().split("\n")) assert.property(JSON.parse(line), "runId")
      const terminated = yield* again.kill("SIGTERM")
      assert.strictEqual(terminated.code, 143, terminated.stderr)
      // It says that it is stopping only where that takes a while.
      assert.match(terminated.stderr, /^(Stopping; .*\n)?$/)
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )

  it.live(
    "follows a run in another process, and takes it over when that process is killed, whoever owns the broker",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          plan: plan("One"),
          script: heldInMidTurn
        })
        const watch = yield* world.start("watch")
        yield* watch.waitFor(/Watching every run/)
        const run = yield* world.start("run", "PLAN.md")
        yield* world.model.awaitHeld("mid-turn")
        const up = yield* world.start("up")
        yield* up.waitFor(/Another Reprise process serves/)
        const asked = (yield* world.model.calls).length
        yield* run.kill("SIGKILL")
        yield* up.waitFor(/continuing here/)
        yield* world.model.awaitCall(({ sequence }) => sequence > asked)
        yield* world.model.release("mid-turn")
        yield* up.waitFor(/Run completed/)
        yield* watch.waitFor(/Run completed/)
      })
  )
})
