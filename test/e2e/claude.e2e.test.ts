// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import { correct, once, oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe.skipIf(lacksClaude)("reprise run --runtime claude", () => {
  it.live("runs a plan through author and reviewer, and reviews a fix in the same reviewer session", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        script: script(once({ role: "reviewer", kind: "report" }, correct("Say more")))
      })
      const run = yield* world.reprise("run", "PLAN.md", "--runtime", "claude")
      assert.strictEqual(run.code, 0, run.stderr)
      const [view] = yield* world.runs
      assert.strictEqual(view?.status, "completed")
      const calls = yield* world.model.calls
      assert.deepStrictEqual(new Set(calls.map(({ protocol }) => protocol)), new Set(["anthropic"]))
      const reviews = calls.filter(({ kind, role }) => role === "reviewer" && (kind === "work" || kind === "follow-up"))
      assert.deepStrictEqual(
        reviews.map(({ kind }) => kind),
        ["work", "follow-up"]
      )
      assert.strictEqual(new Set(reviews.map(({ session }) => session)).size, 1)
      assert.deepStrictEqual(new Set((yield* world.sessions).map(({ runtime }) => runtime)), new Set(["claude"]))
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )

  it.live("reviews what an author on OpenCode wrote, in one session from cycle to cycle", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        config: 'permissions = "all"\nmodel = "scripted/scripted"\nreviewerRuntime = "claude"\n',
        script: script(once({ role: "reviewer", kind: "report" }, correct("Say more")))
      })
      const dry = yield* world.reprise("run", "PLAN.md", "--dry-run")
      assert.include(dry.stdout, "runtime: opencode, scripted/scripted; reviewer: claude")
      const run = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(run.code, 0, run.stderr)
      assert.deepStrictEqual((yield* world.sessions).map(({ role, runtime }) => `${role} ${runtime}`).sort(), [
        "author opencode",
        "reviewer claude"
      ])
      const calls = (yield* world.model.calls).filter(({ kind }) => kind === "work" || kind === "follow-up")
      const reviews = calls.filter(({ role }) => role === "reviewer")
      assert.deepStrictEqual(
        reviews.map(({ kind, protocol }) => `${kind} ${protocol}`),
        ["work anthropic", "follow-up anthropic"]
      )
      assert.strictEqual(new Set(reviews.map(({ session }) => session)).size, 1)
      assert.isFalse(calls.some(({ protocol, role }) => role === "author" && protocol === "anthropic"))
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )

  it.live("continues the same author session after gate answer, with one new user message", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        ...oneQuestion,
        openCode: "own",
        config: 'permissions = "all"\nruntime = "claude"\n'
      })
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [question] = yield* world.questions
      const before = (yield* world.sessions).find(({ role }) => role === "author")
      const asked = (yield* world.model.calls).findLast(({ session }) => session === before?.runtimeSessionId)
      const id = question?.escalationId ?? ""
      const answered = yield* world.reprise("gate", "answer", id, "c", "--guidance", "Blue, of course")
      assert.strictEqual(answered.code, 0, answered.stderr)
      const second = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(second.code, 0, second.stderr)

      const continued = (yield* world.model.calls).find(({ kind }) => kind === "continue")
      assert.strictEqual(continued?.session, before?.runtimeSessionId)
      assert.include(continued?.lastUser, "Blue, of course")
      assert.strictEqual(continued?.turn, (asked?.turn ?? 0) + 1)
      const said = asked?.messages.map(({ text }) => text) ?? []
      assert.deepStrictEqual(continued?.messages.map(({ text }) => text).slice(0, said.length), said)
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.deepStrictEqual(
        authors.map(({ runtimeSessionId }) => runtimeSessionId),
        [before?.runtimeSessionId]
      )
    })
  )
})
