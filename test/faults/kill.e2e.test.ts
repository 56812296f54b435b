import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

describe("a run survives kill -9 and a second `reprise run`", () => {
  it.live("during a turn: nobody hosts it, then its session completes it with one user message, prompted once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        script: script(
          once({ role: "author", kind: "work" }, [
            { bash: "echo begun > begun.txt" },
            { hold: "mid-turn", bash: "git add -A && git commit -q -m 'Write it' && git rev-parse HEAD" },
            { text: "Done." }
          ])
        )
      })
      const first = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitHeld("mid-turn")
      const [before] = yield* world.sessions
      const asked = (yield* world.model.calls).length
      const shown = Effect.map(Effect.all([world.runs, world.sessions]), ([[run], [session]]) => [
        run?.status,
        run?.hosted,
        session?.turnId === before?.turnId,
        session?.hosted
      ])
      assert.deepStrictEqual(yield* shown, ["running", true, true, true])
      yield* first.kill("SIGKILL")
      // A broker that does not answer in time says nothing about the host.
      const after = yield* waitForCommand(
        Effect.map(shown, (now) => ([now[1], now[3]].includes(true) ? undefined : now))
      )
      assert.deepStrictEqual(after, ["running", false, true, false])

      const again = yield* world.start("run", "PLAN.md")
      // Only after the new process has asked: the old runtime may outlive its owner by a moment.
      yield* world.model.awaitCall(({ sequence }) => sequence > asked)
      yield* world.model.release("mid-turn")
      const second = yield* again.ended
      assert.strictEqual(second.code, 0, second.stderr)
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.deepStrictEqual(
        authors.map(({ runtimeSessionId }) => runtimeSessionId),
        [before?.runtimeSessionId]
      )
      const calls = (yield* world.model.calls).filter(({ role }) => role === "author")
      const workPrompts = new Set(calls.filter(({ kind }) => kind === "work").map(({ turn }) => turn))
      assert.deepStrictEqual([...workPrompts], [1], "the work prompt is one user message")
      assert.strictEqual((yield* world.runs)[0]?.status, "completed")
      assert.strictEqual(
        world
          .git("log", "--format=%s")
          .split("\n")
          .filter((line) => line === "Write it").length,
        1
      )
    })
  )
})
