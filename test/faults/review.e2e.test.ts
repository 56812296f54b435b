import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { correct, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const verdict = (phase: number) => ({ role: "reviewer", kind: "report", phase }) as const

const story = script(
  once({ role: "reviewer", kind: "work", phase: 1 }, { hold: "in review", text: "I have read it." }),
  { match: verdict(2), reply: { text: "I like it." }, times: 2 },
  { match: verdict(3), reply: correct("The same again"), times: 3 }
)

const commitLate = (world: World): string => {
  writeFileSync(join(world.root, "late.txt"), "late\n")
  world.git("add", "--all")
  world.git("commit", "--quiet", "--message", "Add late.txt")
  return world.git("rev-parse", "HEAD")
}

describe("reviews", () => {
  it.live(
    "count only for the commit that they name, take one short prompt each in one session, and end when they make no progress",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ openCode: "shared", plan: plan("One", "Two", "Three"), script: story })
        const { model } = world
        const run = yield* world.start("run", "PLAN.md", "--auto")
        yield* model.awaitHeld("in review")
        const first = world.git("rev-parse", "HEAD")
        const late = commitLate(world)
        yield* model.release("in review")
        const ended = yield* run.ended
        assert.strictEqual(ended.code, 0, ended.stderr)

        const [view] = yield* world.runs
        const events = yield* world.eventsOf(view?.runId ?? "")
        const of = (type: string, phase: string) => events.filter((line) => line.type === type && line.phase === phase)
        const reused = (phase: string) => of("ReviewStarted", phase).map(({ sessionReused }) => sessionReused)
        const calls = yield* model.calls
        const asked = (phase: string) =>
          calls.filter(({ kind, phase: at, role }) => role === "reviewer" && kind !== "report" && at === phase)
        const sessions = (phase: string) => new Set(asked(phase).map(({ session }) => session)).size

        // HEAD moved while the review was under way.
        assert.deepStrictEqual(
          of("ReviewStarted", "1").map(({ commit }) => commit),
          [first, late]
        )
        assert.deepStrictEqual([reused("1"), sessions("1")], [[false, true], 1])
        assert.strictEqual(of("PhaseCompleted", "1")[0]?.commit, late)
        const again = asked("1")[1]
        assert.include(again?.lastUser, ` ${first}..${late}`)

        // The verdict was unreadable, so a new reviewer session gets the full prompt.
        assert.deepStrictEqual([reused("2"), sessions("2")], [[false, false], 2])
        assert.deepStrictEqual(
          asked("2").map(({ kind, turn }) => `${kind} ${turn}`),
          ["work 1", "work 1"]
        )

        // Two reviews in a row raised no fewer items, so a human is asked before the limit of five.
        assert.deepStrictEqual([reused("3"), sessions("3")], [[false, true, true, true], 1])
        assert.deepStrictEqual(
          asked("3").map(({ kind }) => kind),
          ["work", "follow-up", "follow-up", "follow-up"]
        )
        const [whole, followUp] = asked("3").map(({ usage }) => usage.inputTokens - usage.cachedTokens)
        assert.isBelow(followUp ?? Number.NaN, (whole ?? 0) / 10, "what the reviewer knows is not sent as new again")
        const retried = view?.notices.filter((notice) => notice.includes("no fewer items")) ?? []
        assert.isNotEmpty(retried)
        assert.strictEqual(of("StepStarted", "3").filter(({ cause }) => cause === "auto-retry").length, 1)
        assert.deepStrictEqual(yield* model.unmatched, [])
      })
  )
})
