import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commits, needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

const workCalls = (world: World, role: string) =>
  Effect.map(world.model.calls, (calls) =>
    calls.filter((call) => call.role === role && call.kind === "work" && call.round === 0)
  )

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

  it.live("at the gate: the same question is open, with the same options", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once({ role: "author", kind: "report" }, needsHuman("Which way?")))
      })
      const gate = yield* world.start("run", "PLAN.md", "--json")
      yield* gate.waitFor(/"type":"EscalationRaised"/)
      yield* gate.kill("SIGKILL")
      const [question] = yield* world.questions
      assert.strictEqual(question?.reason, "Which way?")
      const calls = (yield* world.model.calls).length

      const again = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(again.code, 4, again.stderr)
      assert.deepStrictEqual(yield* world.questions, question === undefined ? [] : [question])
      assert.strictEqual((yield* world.model.calls).length, calls, "no model call for a finished turn")
    })
  )

  it.live("during a review: the reviewer's session is kept, and the author is not prompted again", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        script: script(
          once({ role: "author", kind: "work" }, commits("work.txt", "work")),
          once({ role: "reviewer", kind: "work" }, { hold: "review", text: "I have read it." })
        )
      })
      const first = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitHeld("review")
      const before = (yield* world.sessions).map(({ runtimeSessionId }) => runtimeSessionId)
      const asked = (yield* world.model.calls).length
      yield* first.kill("SIGKILL")

      const again = yield* world.start("run", "PLAN.md")
      // Only after the new process has asked: the old runtime may outlive its owner by a moment.
      yield* world.model.awaitCall(({ sequence }) => sequence > asked)
      yield* world.model.release("review")
      const second = yield* again.ended
      assert.strictEqual(second.code, 0, second.stderr)
      assert.deepStrictEqual(
        (yield* world.sessions).map(({ runtimeSessionId }) => runtimeSessionId).sort(),
        before.sort()
      )
      assert.strictEqual((yield* workCalls(world, "author")).length, 1)
    })
  )
})
