// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  completes,
  doneTask,
  doTask,
  folder,
  planWith,
  reports,
  reviewed,
  worksWhen
} from "../harness/checkpointPlan.ts"
import { once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const authorsOf = (world: World) =>
  Effect.map(world.sessions, (sessions) => sessions.filter(({ role }) => role === "author"))

const lastWork = (world: World) =>
  Effect.map(world.model.calls, (calls) => calls.findLast(({ kind, role }) => role === "author" && kind === "work"))

describe("a fresh author of a phase whose first tasks are done", () => {
  it.live("gets the verified record after `fix`, and repeats no task", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: planWith("Create the module", "Build the page"),
        script: {
          rules: [
            { ...worksWhen("", doTask("module")), match: { role: "author", kind: "work" } },
            reports({ result: "needs_human", reason: "Which page?", completedTasks: [doneTask(1, "module")] }),
            worksWhen("Resume execution at Task 2", doTask("page")),
            completes("page", [doneTask(2, "page")]),
            ...reviewed
          ]
        }
      })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)
      const [question] = yield* world.questions
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "fix", "--guidance", "The first one.")
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)

      assert.strictEqual((yield* authorsOf(world)).length, 2)
      const prompt = (yield* lastWork(world))?.lastUser
      assert.include(prompt, `${folder}/.continuation-state.json`)
      assert.match(prompt ?? "", /\| 02-01-T1 \| Create the module \| [0-9a-f]{12} \| module.txt \| complete \|/)
      assert.include(prompt, "The first one.")
      const types = (yield* world.eventsOf(question?.runId ?? "")).map(({ type }) => type)
      assert.include(types, "ContinuationVerified")
    })
  )

  it.live(
    "is told what its predecessor left uncommitted when that ran out of time, and nothing once it is committed",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          openCode: "shared",
          config: 'permissions = "all"\n[limits]\nturnInactivityMs = 30000\n',
          plan: plan("One", "Two"),
          script: script(
            once({ role: "author", kind: "work" }, [
              { bash: "echo half > half.txt && echo more >> README.md" },
              { hold: "forever", text: "Done." }
            ])
          )
        })
        assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)
        const [question] = yield* world.questions
        yield* world.reprise("gate", "answer", question?.escalationId ?? "", "fix")
        const done = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(done.code, 0, done.stderr)
        const prompts = (yield* world.model.calls)
          .filter(({ kind, role }) => role === "author" && kind === "work")
          .map(({ lastUser }) => lastUser)
        const told = [...new Set(prompts)].map((text) => text.split("## Uncommitted changes")[1] ?? "none")
        assert.strictEqual(told.length, 3, "two authors of phase 1, one of phase 2")
        assert.deepStrictEqual([told[0], told[2]], ["none", "none"])
        assert.match(told[1] ?? "", /untracked:\n(> .*\n)*> \?\? half\.txt\n/)
      })
  )

  it.live("takes the next step when the context exceeds its limit, and the event has the token counts", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        config:
          'permissions = "all"\n[gates]\nquality = ["test -e fixed.txt"]\n[continuation]\nmaxContextFill = 0.01\n',
        plan: planWith("Create the module"),
        script: {
          rules: [
            { ...worksWhen("", doTask("module")), match: { role: "author", kind: "work" } },
            completes("module", [doneTask(1, "module")]),
            worksWhen("test -e fixed.txt", doTask("fixed")),
            completes("fixed", []),
            ...reviewed
          ]
        }
      })
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.strictEqual((yield* authorsOf(world)).length, 2)
      const [run] = yield* world.runs
      const events = yield* world.eventsOf(run?.runId ?? "")
      const retry = events.find(({ step, type }) => type === "StepStarted" && step === "QUALITY_RETRY")
      const session = retry?.session as { choice: string; why: string; contextTokens: number; contextFill: number }
      assert.strictEqual(session.choice, "fresh")
      assert.match(session.why, /^the context is \d+ % full, and the limit is 1 %$/)
      assert.isAbove(session.contextTokens, 1_000)
      assert.approximately(session.contextFill, session.contextTokens / 128_000, 0.001)
      assert.include((yield* lastWork(world))?.lastUser, "| 02-01-T1 | Create the module |")
    })
  )
})
