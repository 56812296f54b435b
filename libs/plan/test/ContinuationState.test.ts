import { assert, describe, it } from "@effect/vitest"
import { ContinuationState, continuationState, decodeContinuationState, encodeContinuationState } from "../src/index.ts"
import { parsed, refused } from "./plans.ts"

const state: ContinuationState = {
  plan_id: "02-01",
  completed_tasks: [
    { id: "02-01-T1", commit: "abc1234", files: ["src/auth/discord.ts", "src/auth/types.ts"] },
    { id: "02-01-T2", commit: "def5678", files: [] }
  ],
  checkpoint: { task: "02-01-T3", type: "human-verify", resolution: "passed" },
  resume_at: "02-01-T4"
}
const text = encodeContinuationState(state)
const changed = (change: object) => JSON.stringify({ ...state, ...change })

describe("the continuation state", () => {
  it("is indented JSON with the documented keys and a final newline", () => {
    assert.strictEqual(text, `${JSON.stringify(state, null, 2)}\n`)
    assert.deepStrictEqual(Object.keys(JSON.parse(text)), ["plan_id", "completed_tasks", "checkpoint", "resume_at"])
  })

  it("survives writing and reading", () => {
    assert.deepStrictEqual(parsed(decodeContinuationState(text, "02-01")), state)
  })

  it.prop("survives writing and reading, whatever its content", [ContinuationState], ([any]) => {
    const ids = new Set(any.completed_tasks.map(({ id }) => id))
    if (ids.size < any.completed_tasks.length) return
    assert.deepStrictEqual(parsed(decodeContinuationState(encodeContinuationState(any), any.plan_id)), any)
  })

  it("is built from what the run knows", () => {
    const known = { planId: "02-01", completedTasks: state.completed_tasks }
    assert.deepStrictEqual(continuationState(known), { plan_id: "02-01", completed_tasks: state.completed_tasks })
    assert.deepStrictEqual(
      continuationState({
        ...known,
        checkpoint: { task: "02-01-T3", type: "human-verify" },
        resolution: "passed",
        resumeAt: "02-01-T4"
      }),
      state
    )
  })

  it("is read even with unknown keys", () => {
    assert.deepStrictEqual(parsed(decodeContinuationState(changed({ note: 1, version: 1 }), "02-01")), state)
  })

  it.each<[string, string, string]>([
    ["an empty file", "", "truncated"],
    ["zeros, as after a power cut", "\0\0\0\0", "truncated"],
    ["a half-written file", text.slice(0, text.length / 2), "truncated"],
    ["a merge conflict", text.replace('"resume_at"', '<<<<<<< HEAD\n"resume_at"'), "corrupt"],
    ["two files in one", `${text}${text}`, "corrupt"],
    ["an array", "[]", "invalid"],
    ["another object", "{}", "invalid"],
    ["a task without a commit", changed({ completed_tasks: [{ id: "a", files: [] }] }), "invalid"],
    [
      "a commit that is an option",
      changed({ completed_tasks: [{ id: "a", commit: "--output=x", files: [] }] }),
      "invalid"
    ],
    [
      "a task that is completed twice",
      changed({ completed_tasks: [state.completed_tasks[0], state.completed_tasks[0]] }),
      "invalid"
    ],
    ["an id of many lines", changed({ resume_at: "a\nb" }), "invalid"],
    ["an unknown checkpoint", changed({ checkpoint: { task: "a", type: "coffee" } }), "invalid"],
    ["a state of another plan", changed({ plan_id: "02-02" }), "another-plan"],
    ["a state of a newer version", changed({ version: 2, plan_id: 7 }), "newer-version"]
  ])("is refused when the file holds %s", (_, damaged, code) => {
    const refusal = refused(decodeContinuationState(damaged, "02-01"))
    assert.strictEqual(refusal.code, code)
    assert.match(refusal.message, /^the continuation state cannot be used: .+; write it again from the journal\.$/)
  })
})
