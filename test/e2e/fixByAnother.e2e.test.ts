// @module-tag long
/** `fix` with another agent: it takes over from the author, on another runtime, for the rest of the phase. */
import { assert, describe, it } from "@effect/vitest"
import type { ScriptInput } from "@reprise/scripted-model"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import { completes, doneTask, doTask, folder, planWith, reports, worksWhen } from "../harness/checkpointPlan.ts"
import { commits, complete, correct, on, once, oneQuestion, ready } from "../harness/modelScript.ts"
import { answers, parks } from "../harness/parkedRun.ts"
import { makeWorld, type World } from "../harness/World.ts"

const runtimesOf = (world: World) =>
  Effect.map(world.sessions, (sessions) => sessions.map(({ role, runtime }) => `${role} ${runtime}`).sort())

const authorsWork = (world: World) =>
  Effect.map(world.model.calls, (calls) =>
    calls.filter(({ kind, role, round }) => role === "author" && kind === "work" && round === 0)
  )

/** The author does one task of two and asks; whoever takes over does the other, and the reviewer has one finding. */
const halfDone: ScriptInput = {
  rules: [
    { ...worksWhen("", doTask("module")), match: { role: "author", kind: "work" } },
    reports({ result: "needs_human", reason: "Which page?", completedTasks: [doneTask(1, "module")] }),
    worksWhen("Resume execution at Task 2", doTask("page")),
    completes("page", [doneTask(2, "page")]),
    once({ role: "reviewer", kind: "report" }, correct("Say more")),
    on({ role: "author" }, commits("more.txt", "more")),
    on({ role: "author", kind: "report" }, complete),
    on({ role: "reviewer", kind: "report" }, ready),
    on({ role: "reviewer" }, { text: "I have read it." })
  ]
}

const finishes = Effect.fnUntraced(function* (world: World) {
  const done = yield* world.reprise("run", "PLAN.md")
  assert.strictEqual(done.code, 0, done.stderr)
  assert.deepStrictEqual(yield* world.model.unmatched, [])
  return done
})

describe.skipIf(lacksClaude)("fix by another agent", () => {
  it.live("hands the verified record of an author on OpenCode to one on Claude, which also fixes the findings", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: planWith("Create the module", "Build the page"),
        script: halfDone
      })
      const question = yield* parks(world)
      const answer = yield* world.reprise(
        ...["gate", "answer", question.escalationId, "fix", "--runtime", "claude", "--variant", "low"],
        ...["--guidance", "The first one."]
      )
      assert.strictEqual(answer.code, 0, answer.stderr)
      yield* finishes(world)

      assert.deepStrictEqual(yield* runtimesOf(world), ["author claude", "author opencode", "reviewer opencode"])
      const [first, second, ...more] = yield* authorsWork(world)
      assert.deepStrictEqual([first?.protocol, second?.protocol], ["openai", "anthropic"])
      assert.strictEqual(second?.effort, "low")
      assert.include(second?.lastUser, `${folder}/.continuation-state.json`)
      assert.match(
        second?.lastUser ?? "",
        /\| 02-01-T1 \| Create the module \| [0-9a-f]{12} \| module.txt \| complete \|/
      )
      assert.include(second?.lastUser, "The first one.")
      const fixes = (yield* world.model.calls).filter(({ lastUser }) => lastUser.includes("Say more"))
      assert.deepStrictEqual(new Set(fixes.map(({ session }) => session)), new Set([second?.session]))
      assert.deepStrictEqual(new Set(more.map(({ session }) => session)), new Set([second?.session]))

      const events = yield* world.eventsOf(question.runId)
      assert.containSubset(
        events.find(({ type }) => type === "AuthorChanged"),
        { phase: "2", runtime: "claude" }
      )
      const summary = yield* world.reprise("summary", question.runId)
      assert.match(summary.stdout, /Other Authors[\s\S]*Phase 2: claude, variant low, chosen by /)
    })
  )

  it.live(
    "refuses an agent that is not set up with the next step, and asks again where only the host of the run knows",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld(oneQuestion)
        const { escalationId } = yield* parks(world)
        const refused = (environment: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
          Effect.map(world.repriseIn({ environment }, "gate", "answer", escalationId, ...args), ({ code, stderr }) => [
            code,
            stderr
          ])
        const says = (told: ReadonlyArray<unknown>, code: number, text: RegExp) => {
          assert.strictEqual(told[0], code)
          assert.match(String(told[1]), text)
        }
        says(
          yield* refused({}, "fix", "--runtime", "cursor"),
          2,
          /There is no runtime 'cursor'\. Name one of: opencode, claude/
        )
        says(yield* refused({}, "fix", "--model", "a b"), 2, /'a b' names no model/)
        says(yield* refused({}, "abort", "--runtime", "claude"), 2, /'abort' starts no fresh author here/)
        says(
          yield* refused({}, "fix", "--runtime", "acp:sh -c true"),
          2,
          /no other is started\. Name opencode or claude/
        )
        says(
          yield* refused({ REPRISE_CLAUDE: "/nowhere/claude" }, "fix", "--runtime", "claude"),
          3,
          /not installed[\s\S]*npm i --no-save @anthropic-ai/
        )
        says(
          yield* refused({ ANTHROPIC_API_KEY: "" }, "fix", "--runtime", "claude"),
          3,
          /no login and no key\. Log in with 'claude', or set ANTHROPIC_API_KEY/
        )
        says(
          yield* refused({}, "fix", "--model", "scripted/nonsense"),
          3,
          /OpenCode has no model scripted\/nonsense, or no key for it\. .*'opencode auth login' adds a key/
        )
        assert.deepStrictEqual(
          (yield* world.questions).map((question) => question.escalationId),
          [escalationId]
        )
        yield* answers(world, escalationId, "f --runtime claude: Blue")
        // Answered where Claude is installed, as from another machine: the run's host finds that it is not.
        const elsewhere = yield* world.repriseIn(
          { environment: { REPRISE_CLAUDE: "/nowhere/claude" } },
          "run",
          "PLAN.md"
        )
        assert.strictEqual(elsewhere.code, 4, elsewhere.stderr)
        const [again] = yield* world.questions
        assert.match(again?.reason ?? "", /Claude agent SDK is not installed/)
        yield* answers(world, again?.escalationId ?? "", "f --runtime opencode")
        yield* finishes(world)
        assert.include((yield* authorsWork(world)).at(-1)?.lastUser, "Blue")
      })
  )
})
