import { assert, describe, it } from "@effect/vitest"
import { runId } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const change = (model: string, role: "author" | "reviewer" = "author") =>
  ({ _tag: "ChangeModel", runId, role, model }) as const

const modelOfTurn = (s: Story) => s.command("StartTurn").model
const executing = () => story().executing({ model: "first/one" })
const reviewing = () => story().executing({ model: "first/one" }).worked("abc1234")

describe("any, ChangeModel", () => {
  it("holds from the author's next turn on", () => {
    const s = executing()
    assert.strictEqual(modelOfTurn(s), "first/one")
    assert.deepStrictEqual(s.tell(change("other/two")).lines, ["ModelChanged"])
    s.completes()
    assert.strictEqual(modelOfTurn(s), "other/two")
  })

  it("holds for a session that is continued", () => {
    const s = executing().needsHuman().tell(change("other/two")).answer("continue-session")
    assert.strictEqual(s.command("ContinueSession").model, "other/two")
  })

  it("holds for the reviewer, unless it has a model of its own", () => {
    const follows = story().executing({ model: "first/one" }).tell(change("other/two")).worked("abc1234")
    assert.strictEqual(follows.command("RequestReview").model, "other/two")
    const own = story().executing({ reviewerModel: "third/three" }).tell(change("other/two"))
    assert.strictEqual(own.worked("abc1234").command("RequestReview").model, "third/three")
  })

  it("is not the reviewer's where that is on another runtime, which has models of its own", () => {
    const ask = (options: { readonly reviewerModel?: string }) =>
      story()
        .executing({ model: "first/one", reviewerRuntime: "claude", ...options })
        .worked("abc1234")
        .command("RequestReview")
    assert.deepInclude(ask({}), { runtime: "claude" })
    assert.notProperty(ask({}), "model")
    assert.deepInclude(ask({ reviewerModel: "opus" }), { runtime: "claude", model: "opus" })
    assert.strictEqual(story().executing({ reviewerRuntime: "claude" }).command("StartTurn").runtime, "opencode")
  })

  it("says nothing when the role has the model already", () => {
    assert.deepStrictEqual(executing().tell(change("first/one")).lines, [])
    assert.deepStrictEqual(executing().tell(change("first/one", "reviewer")).lines, [])
  })

  it("keeps a pause and an open question as they are", () => {
    const paused = executing().tell({ _tag: "PauseRun", runId, now: true }).tell(change("other/two"))
    assert.deepStrictEqual([paused.run.status, paused.lines], ["paused", ["ModelChanged"]])
    const asking = executing().needsHuman().tell(change("other/two"))
    assert.deepStrictEqual([asking.run.status, asking.lines], ["waiting", ["ModelChanged"]])
  })

  it("leaves a repeated StartRun the same request", () => {
    const s = executing().tell(change("other/two"))
    assert.deepStrictEqual(s.tell(s.run.request).lines, [])
  })
})

describe("EXECUTE, a failure of the model's vendor", () => {
  it.each(["unauthorized", "out_of_credits", "rate_limited", "other", "runtime"] as const)(
    "lets a human change the model: %s",
    (kind) => {
      const s = executing().turnFails(kind)
      assert.deepStrictEqual(s.choices, ["fix", "change-model", "override", "abort"])
    }
  )

  it.each(["no_internet", "timeout", "gone", "invalid-report"] as const)("is no other failure: %s", (kind) => {
    assert.notInclude(executing().turnFails(kind).choices, "change-model")
  })

  it("goes on in the same session with the other model", () => {
    const s = executing().turnFails("rate_limited", true).answer("change-model", " other/two ")
    assert.deepStrictEqual(s.lines, [
      "ModelChanged",
      "StepResumed EXECUTE (answer)",
      "StepStarted EXECUTE (continue)",
      "session-manager ContinueSession"
    ])
    const { guidance, model } = s.command("ContinueSession")
    assert.deepStrictEqual([model, guidance], ["other/two", undefined])
  })

  it("begins again with the other model where the session cannot be continued", () => {
    const s = executing().turnFails("unauthorized").answer("m", "other/two")
    assert.include(s.lines, "StepStarted EXECUTE (fix)")
    assert.strictEqual(modelOfTurn(s), "other/two")
  })

  it.each(["", "  ", "the other one"])("asks again when the answer names no model: '%s'", (guidance) => {
    const s = executing().turnFails("unauthorized").answer("change-model", guidance)
    assert.deepStrictEqual([s.run.status, s.run.models], ["waiting", undefined])
    assert.include(s.run.notices.at(-1), "does not name a model: the question is asked again")
  })
})

describe("REVIEW, a failure of the model's vendor", () => {
  it("lets a human change the reviewer's model, and reviews again", () => {
    const s = reviewing().reviewBreaks("unauthorized")
    assert.include(s.choices, "change-model")
    s.answer("change-model", "other/two")
    assert.strictEqual(s.command("RequestReview").model, "other/two")
    assert.strictEqual(s.run.models?.author, undefined)
  })
})
