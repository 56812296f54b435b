import { assert, describe, it } from "@effect/vitest"
import { defaultRunOptions, PhaseId, RunOptions } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { resolve } from "../src/config/Config.ts"
import { runOptions } from "../src/config/runOptions.ts"

const configOf = (values: Record<string, unknown>) =>
  Result.getOrThrow(resolve([{ source: "reprise.toml", values: new Map(Object.entries(values)) }]))

const noFlags = { auto: false, allowDirty: false, skipQuality: false }

describe("the options of a run", () => {
  it("are the protocol's defaults when nothing is configured", () => {
    assert.deepStrictEqual(runOptions(configOf({}), noFlags), defaultRunOptions)
  })

  it("take what is configured", () => {
    const options = runOptions(
      configOf({
        model: "a/b",
        reviewerModel: "c/d",
        permissions: "workspace",
        "gates.quality": ["make"],
        "gates.phase": "human",
        "limits.tokenBudget": 1000,
        "workspace.worktree": true,
        "workspace.postCreate": ["npm ci"]
      }),
      noFlags
    )
    assert.strictEqual(options.model, "a/b")
    assert.strictEqual(options.reviewerModel, "c/d")
    assert.strictEqual(options.permissions, "workspace")
    assert.deepStrictEqual(options.gates, { quality: ["make"], qualityTimeoutMs: 300_000, verify: [], phase: "human" })
    assert.deepStrictEqual(options.limits, { ...defaultRunOptions.limits, tokenBudget: 1000 })
    assert.isTrue(options.worktree)
    assert.deepStrictEqual(options.postCreate, ["npm ci"])
  })

  it("take the flags of the command", () => {
    const startPhase = PhaseId.make("2.1")
    const options = runOptions(configOf({}), { auto: true, allowDirty: true, skipQuality: true, startPhase })
    assert.deepStrictEqual(options, {
      ...defaultRunOptions,
      auto: true,
      allowDirty: true,
      skipQuality: true,
      startPhase
    })
  })

  it("fit the protocol", () => {
    const options = runOptions(configOf({ model: "a/b" }), noFlags)
    assert.deepStrictEqual(Schema.decodeUnknownSync(RunOptions)(JSON.parse(JSON.stringify(options))), options)
  })
})
