import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { fromPlan } from "../src/config/layers.ts"
import { digestOf, trustedSettingLines, trustedSettings, trustedSettingsOfRun } from "../src/trust/trustedSettings.ts"
import { configOf, layerOf } from "./support/layers.ts"

const both = layerOf({ "gates.quality": ["make"], "workspace.postCreate": ["npm ci", "npm run build"] })

const digest = (...commands: ReadonlyArray<string>) => digestOf({ setting: "gates.quality", values: commands })

describe("the settings that need trust", () => {
  it("are the quality gates and the commands for a new worktree, with the file that names them", () => {
    const plan = Result.getOrThrow(fromPlan("docs/plan.md", { gates: { quality: ["make evil"] } }))
    assert.deepStrictEqual(trustedSettings(configOf(both, plan)), [
      { setting: "gates.quality", source: "plan", from: "docs/plan.md", values: ["make evil"] },
      {
        setting: "workspace.postCreate",
        source: "reprise.toml",
        from: "reprise.toml",
        values: ["npm ci", "npm run build"]
      }
    ])
  })

  it("are empty if no setting names any", () => {
    assert.deepStrictEqual(trustedSettings(configOf(layerOf({ "gates.quality": [] }))), [])
  })

  it("are a runtime that is a command, and no other", () => {
    const settings = (runtime: string) =>
      trustedSettings(configOf(layerOf({ runtime }))).map(({ setting, values }) => [setting, ...values])
    assert.deepStrictEqual(settings("acp:agent --acp"), [["runtime", "acp:agent --acp"]])
    assert.deepStrictEqual(settings("claude"), [])
  })

  it.each([
    [{ auto: false, skipQuality: false, worktree: false }, ["gates.quality"]],
    [{ auto: false, skipQuality: false, worktree: true }, ["gates.quality", "workspace.postCreate"]],
    [{ auto: false, skipQuality: true, worktree: true }, ["workspace.postCreate"]],
    [{ auto: true, skipQuality: true, worktree: false }, []]
  ])("that a run with %j executes are in %j", (options, expected) => {
    assert.deepStrictEqual(
      trustedSettingsOfRun(configOf(both), options).map(({ setting }) => setting),
      expected
    )
  })

  it("that verify a checkpoint are executed only by a run with --auto", () => {
    const config = configOf(layerOf({ "gates.verify": ["npm run look"] }))
    const executed = (auto: boolean) => trustedSettingsOfRun(config, { auto, skipQuality: true, worktree: false })
    assert.deepStrictEqual(
      [executed(true), executed(false)].map((all) => all.flatMap(({ values }) => values)),
      [["npm run look"], []]
    )
  })

  it.each([
    [["escalate"], []],
    [["reject", "escalate"], []],
    [["approve"], ["approve"]],
    [[{ action: "approve", attempts: 3 }, "escalate"], ['{"action":"approve","attempts":3}']]
  ])("include sessions.onPrompt only as far as it approves: %j gives %j", (onPrompt, values) => {
    const settings = trustedSettings(configOf(layerOf({ "sessions.onPrompt": onPrompt })))
    assert.deepStrictEqual(
      settings.flatMap((setting) => setting.values),
      values
    )
  })

  it("are shown under the file that names them", () => {
    assert.deepStrictEqual(trustedSettingLines(trustedSettings(configOf(both))), [
      "reprise.toml, gates.quality:",
      "  make",
      "reprise.toml, workspace.postCreate:",
      "  npm ci",
      "  npm run build"
    ])
  })

  it("are shown so that no command looks like another one or like two", () => {
    const disguised = layerOf({ "gates.quality": ["make\n  npm ci", "echo \u202e'tset mpn'\u200b", "a\rb"] })
    assert.deepStrictEqual(trustedSettingLines(trustedSettings(configOf(disguised))), [
      "reprise.toml, gates.quality:",
      "  make\\n  npm ci",
      "  echo \\u{202e}'tset mpn'\\u{200b}",
      "  a\\x0db"
    ])
  })
})

describe("the digest of commands", () => {
  it("changes when a command changes, moves, is split, added or removed", () => {
    const digests = [
      digest("make", "make test"),
      digest("make test", "make"),
      digest("make", "make test "),
      digest("make"),
      digest("make", "make test", ""),
      digest("make make test"),
      digest('make","make test'),
      digest("make\nmake test"),
      digestOf({ setting: "workspace.postCreate", values: ["make", "make test"] })
    ]
    assert.strictEqual(new Set(digests).size, digests.length)
  })

  it.prop(
    "is the same only for the same commands",
    [Schema.Array(Schema.String), Schema.Array(Schema.String)],
    ([some, others]) => {
      const same = some.length === others.length && some.every((command, n) => command === others[n])
      assert.strictEqual(digest(...some) === digest(...others), same)
      assert.strictEqual(digest(...some), digest(...some))
    }
  )
})
