import { assert, describe, it } from "@effect/vitest"
import { defaultRunOptions, PhaseId, RunOptions } from "@reprise/protocol"
import { Schema } from "effect"
import { noRunFlags, runOptions } from "../src/config/serviceOptions.ts"
import { configOf, layerOf, type Values } from "./support/layers.ts"

const settingsOf = (values: Values = {}) => configOf(layerOf(values)).settings

describe("the options of a run", () => {
  it("are the protocol's defaults when nothing is configured", () => {
    assert.deepStrictEqual(runOptions(settingsOf(), noRunFlags), defaultRunOptions)
  })

  it("take the configured settings", () => {
    const options = runOptions(
      settingsOf({
        model: "a/b",
        reviewerModel: "c/d",
        reviewerRuntime: "claude",
        permissions: "workspace",
        "gates.quality": ["make"],
        "gates.phase": "human",
        "limits.tokenBudget": 1000,
        "workspace.worktree": true,
        "workspace.postCreate": ["npm ci"]
      }),
      noRunFlags
    )
    assert.strictEqual(options.model, "a/b")
    assert.strictEqual(options.reviewerModel, "c/d")
    assert.strictEqual(options.reviewerRuntime, "claude")
    assert.strictEqual(options.permissions, "workspace")
    assert.deepStrictEqual(options.gates, {
      quality: ["make"],
      qualityTimeoutMs: 300_000,
      verify: [],
      environment: [],
      phase: "human"
    })
    assert.deepStrictEqual(options.limits, { ...defaultRunOptions.limits, tokenBudget: 1000 })
    assert.isTrue(options.worktree)
    assert.deepStrictEqual(options.postCreate, ["npm ci"])
  })

  it("take the flags of the command", () => {
    const startPhase = PhaseId.make("2.1")
    const options = runOptions(settingsOf(), { auto: true, allowDirty: true, skipQuality: true, startPhase })
    assert.deepStrictEqual(options, {
      ...defaultRunOptions,
      auto: true,
      allowDirty: true,
      skipQuality: true,
      startPhase
    })
  })

  it("fit the protocol", () => {
    const options = runOptions(settingsOf({ model: "a/b" }), noRunFlags)
    assert.deepStrictEqual(Schema.decodeUnknownSync(RunOptions)(JSON.parse(JSON.stringify(options))), options)
  })
})
