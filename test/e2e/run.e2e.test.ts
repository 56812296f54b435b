import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { correct, needsHuman, on, once, oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const Asked = Schema.Struct({ work: Schema.String, request: Schema.String })
const decodePrompts = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      data: Schema.Struct({ prompts: Schema.Struct({ author: Asked, reviewer: Asked }) })
    })
  )
)

describe("reprise run", () => {
  it.live("runs a plan of two phases with the prompts that the dry run showed", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One", "Two"),
        config: 'permissions = "all"\n[gates]\nquality = ["test -f phase-1.txt"]\n',
        program: "sources",
        snapshots: true,
        script: script()
      })
      const start = world.git("rev-parse", "HEAD")
      const dry = yield* world.reprise("run", "PLAN.md", "--dry-run", "--json")
      assert.strictEqual(dry.code, 0, dry.stderr)
      const { prompts } = decodePrompts(dry.stdout).data
      const text = yield* world.reprise("validate", "PLAN.md")
      assert.include(text.stdout, "The run starts with phase 1. Its author is asked:")
      assert.deepStrictEqual(yield* world.model.calls, [], "no model was called")
      assert.isFalse(existsSync(join(world.root, ".reprise")))

      const run = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(run.code, 0, run.stderr)
      const asked = (yield* world.model.calls).filter(({ kind, round }) => round === 0 && kind !== "title")
      const [work, review = ""] = asked.map(({ lastUser }) => lastUser)
      const commit = world.git("log", "--format=%H", "--grep=^Write phase-1")
      const shown = prompts.reviewer.work.replaceAll("<HEAD>", start).replaceAll("<the author's commit>", commit)
      const ofAuthor = `${prompts.author.work}\n\n${prompts.author.request}`
      assert.strictEqual(work, ofAuthor, "the dry run showed the prompts verbatim")
      const [before = "", after = "nothing"] = shown.split("> <what the author changes>")
      assert.isTrue(review.startsWith(`${before}> `), "as Reprise counts it")
      assert.match(review.slice(before.length), /^> +phase-1\.txt +\| 1 \+/)
      assert.include(review, after, "the author's notes follow")
      assert.isTrue(review.endsWith(`\n\n${prompts.reviewer.request}`))
      const [view] = yield* world.runs
      assert.strictEqual(view?.status, "completed")
      assert.deepStrictEqual(
        view?.phases.map(({ state }) => state),
        ["completed", "completed"]
      )
      assert.strictEqual(
        world
          .git("log", "--format=%s")
          .split("\n")
          .filter((line) => line.startsWith("Write")).length,
        2
      )
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )

  it.live("reviews a correction in the same reviewer session, with only the follow-up prompt", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once({ role: "reviewer", kind: "report" }, correct("Say more")))
      })
      const run = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(run.code, 0, run.stderr)
      const calls = yield* world.model.calls
      const reviews = calls.filter(({ kind, role }) => role === "reviewer" && (kind === "work" || kind === "follow-up"))
      assert.deepStrictEqual(
        reviews.map(({ kind }) => kind),
        ["work", "follow-up"]
      )
      assert.strictEqual(new Set(reviews.map(({ session }) => session)).size, 1)
      assert.include(reviews[1]?.lastUser, "has been made in response to your review feedback.")
      const [view] = yield* world.runs
      const events = yield* world.eventsOf(view?.runId ?? "")
      assert.deepStrictEqual(
        events.filter(({ type }) => type === "ReviewStarted").map(({ sessionReused }) => sessionReused),
        [false, true]
      )
    })
  )

  it.live("parks with exit code 4 without a terminal, and continues the author's session after an answer", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [question] = yield* world.questions
      assert.strictEqual(question?.reason, "Which colour?")
      assert.includeMembers(question?.options.map(({ name }) => name) ?? [], [
        "continue-session",
        "fix",
        "override",
        "abort"
      ])
      const before = (yield* world.sessions).find(({ role }) => role === "author")

      const answered = yield* world.reprise(
        "gate",
        "answer",
        question?.escalationId ?? "",
        "c",
        "--guidance",
        "Blue, of course"
      )
      assert.strictEqual(answered.code, 0, answered.stderr)
      const second = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(second.code, 0, second.stderr)

      const calls = yield* world.model.calls
      const continued = calls.find(({ kind }) => kind === "continue")
      assert.strictEqual(continued?.session, before?.runtimeSessionId)
      assert.include(continued?.lastUser, "Blue, of course")
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.strictEqual(authors.length, 1)
    })
  )

  it.live("ends with exit code 5 after `abort`, and keeps the workspace", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(on({ role: "author", kind: "report" }, needsHuman("No")))
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> /)
      run.type("q\n")
      yield* run.waitFor(/are you sure\? /)
      run.type("y\n")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 5, ended.stdout)
      assert.strictEqual((yield* world.runs)[0]?.status, "aborted")
      assert.include(world.git("log", "--format=%s"), "Write phase-1.txt")
    })
  )
})
