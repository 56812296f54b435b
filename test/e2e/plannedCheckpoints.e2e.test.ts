// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  completes,
  doneTask,
  doTask,
  folder,
  planWith,
  reviewed,
  stopsAt,
  worksWhen
} from "../harness/checkpointPlan.ts"
import { typeInto } from "../harness/openCodeUser.ts"
import { answers, fileOf, parks } from "../harness/parkedRun.ts"
import { makeWorld } from "../harness/World.ts"

describe("an author that goes past the checkpoints of the plan", () => {
  it.live("is told, corrects what it claims, and a human is asked at each of them before the phase is complete", () =>
    Effect.gen(function* () {
      const looks = { bash: "git rev-parse HEAD", capture: { letter: "([0-9a-f]{40})" } }
      const world = yield* makeWorld({
        openCode: "shared",
        plan: planWith("Write the letter (checkpoint: human-verify)", "Pay the invoice (checkpoint: human-action)"),
        script: {
          rules: [
            {
              ...worksWhen("", doTask("letter"), {
                bash: "git rev-parse HEAD~1",
                capture: { start: "([0-9a-f]{40})" }
              }),
              match: { role: "author", kind: "work" }
            },
            completes("letter", [doneTask(1, "letter")]),
            worksWhen("You have gone past checkpoints of the plan"),
            completes("letter", [{ ...doneTask(1, "letter"), commit: "{{start}}" }]),
            worksWhen("does not hold (not-new)"),
            completes("letter", [doneTask(1, "letter")]),
            worksWhen("Skip Task 1 and continue from Task 2.", looks),
            completes("letter", []),
            worksWhen("You have gone past checkpoints of the plan"),
            completes("letter", []),
            worksWhen("Re-execute Task 2 with the user's input.", looks),
            completes("letter", []),
            ...reviewed
          ]
        }
      })
      const letter = yield* parks(world)
      assert.deepStrictEqual(letter.evidence.checkpoint?.verifySteps, ["Write the letter"])
      assert.strictEqual(letter.evidence.commit, world.git("rev-parse", "HEAD"))
      yield* answers(world, letter.escalationId, "pass")
      const invoice = yield* parks(world)
      assert.strictEqual(invoice.evidence.checkpoint?.requiredAction, "Pay the invoice")
      yield* answers(world, invoice.escalationId, "done", "Paid by card.")
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.deepStrictEqual(yield* world.model.unmatched, [])
      const summary = fileOf(world, `${folder}/SUMMARY.md`)
      assert.include(summary, "- **Checkpoint resolution**: passed")
      assert.include(summary, "- **Checkpoint resolution**: done: Paid by card.")
    })
  )
})

describe("a human who only talks with the author at a checkpoint", () => {
  it.live("is asked the same question again, and the phase is not complete without an answer", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        config: 'permissions = "all"\n[sessions]\nidleGraceMs = 300\n',
        plan: planWith("Build the page (checkpoint: human-verify)"),
        script: {
          rules: [
            { ...worksWhen("", doTask("page")), match: { role: "author", kind: "work" } },
            stopsAt(1, "human-verify", [doneTask(1, "page")], { verifySteps: ["Open the page"] }),
            worksWhen("What did you change?"),
            worksWhen("idle again"),
            completes("page", [doneTask(1, "page")]),
            worksWhen("Skip Task 1, which is done.", {
              bash: "git rev-parse HEAD",
              capture: { page: "([0-9a-f]{40})" }
            }),
            completes("page", []),
            ...reviewed
          ]
        }
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> /)
      const [asked] = yield* world.questions
      const author = (yield* world.sessions).find(({ role }) => role === "author")?.runtimeSessionId ?? ""
      yield* typeInto(world, author, "What did you change?")
      yield* run.waitFor(/Question closed[\s\S]*answer> /)
      const [again, ...others] = yield* world.questions
      assert.deepStrictEqual(others, [])
      assert.notStrictEqual(again?.escalationId, asked?.escalationId)
      assert.deepStrictEqual(again?.evidence.checkpoint, asked?.evidence.checkpoint)
      yield* answers(world, again?.escalationId ?? "", "pass")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      assert.include(fileOf(world, `${folder}/SUMMARY.md`), "- **Checkpoint resolution**: passed\n")
    })
  )
})
