import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { fromPlan, type Layered, resolve } from "../src/config/Config.ts"
import { digestOf, powerLines, powersOf, powersOfRun } from "../src/trust/trustedSettings.ts"

const file = (values: Record<string, unknown>): Layered => ({
  source: "reprise.toml",
  values: new Map(Object.entries(values))
})
const both = file({ "gates.quality": ["make"], "workspace.postCreate": ["npm ci", "npm run build"] })
const configOf = (...layers: ReadonlyArray<Layered>) => Result.getOrThrow(resolve(layers))

const digest = (...commands: ReadonlyArray<string>) => digestOf({ setting: "gates.quality", values: commands })

describe("the commands of a configuration", () => {
  it("are the quality gates and those for a new worktree, with the file that names them", () => {
    const plan = Result.getOrThrow(fromPlan("docs/plan.md", { gates: { quality: ["make evil"] } }))
    assert.deepStrictEqual(powersOf(configOf(both, plan)), [
      { setting: "gates.quality", source: "plan", from: "docs/plan.md", values: ["make evil"] },
      {
        setting: "workspace.postCreate",
        source: "reprise.toml",
        from: "reprise.toml",
        values: ["npm ci", "npm run build"]
      }
    ])
  })

  it("are none when nothing names any", () => {
    assert.deepStrictEqual(powersOf(configOf(file({ "gates.quality": [] }))), [])
  })

  it.each([
    [{ auto: false, skipQuality: false, worktree: false }, ["gates.quality"]],
    [{ auto: false, skipQuality: false, worktree: true }, ["gates.quality", "workspace.postCreate"]],
    [{ auto: false, skipQuality: true, worktree: true }, ["workspace.postCreate"]],
    [{ auto: true, skipQuality: true, worktree: false }, []]
  ])("that a run with %j executes are those of %j", (options, expected) => {
    assert.deepStrictEqual(
      powersOfRun(configOf(both), options).map(({ setting }) => setting),
      expected
    )
  })

  it("that verify a checkpoint are executed by an unattended run alone", () => {
    const config = configOf(file({ "gates.verify": ["npm run look"] }))
    const executed = (auto: boolean) => powersOfRun(config, { auto, skipQuality: true, worktree: false })
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
  ])("that answer agents with %j give the power of %j", (onPrompt, values) => {
    const powers = powersOf(configOf(file({ "sessions.onPrompt": onPrompt })))
    assert.deepStrictEqual(
      powers.flatMap((power) => power.values),
      values
    )
  })

  it("are shown under the file that names them", () => {
    assert.strictEqual(
      powerLines(powersOf(configOf(both))),
      "reprise.toml, gates.quality:\n  make\nreprise.toml, workspace.postCreate:\n  npm ci\n  npm run build"
    )
  })
})

describe("the digest of commands", () => {
  it("is another one when a command changes, moves, is split, added or left out", () => {
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
    "is the same for the same commands alone",
    [Schema.Array(Schema.String), Schema.Array(Schema.String)],
    ([some, others]) => {
      const same = some.length === others.length && some.every((command, n) => command === others[n])
      assert.strictEqual(digest(...some) === digest(...others), same)
      assert.strictEqual(digest(...some), digest(...some))
    }
  )
})
