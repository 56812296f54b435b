/** Agents by role and rule as they are configured (docs/agents.md#by-role-and-rule). */
import { assert, describe, it } from "@effect/vitest"
import { plannedAgents } from "@reprise/orchestrator/agents"
import { Result } from "effect"
import type { ConfigProblem } from "../src/config/layers.ts"
import { readToml } from "../src/config/readToml.ts"
import { type Config, resolve } from "../src/config/resolveConfig.ts"
import { agentOptions, configuredRuntimes } from "../src/config/serviceOptions.ts"
import { explained } from "../src/flows/repository/explainConfig.ts"
import { trustedSettings } from "../src/trust/trustedSettings.ts"

const read = (text: string): Result.Result<Config, ConfigProblem> =>
  Result.flatMap(readToml(text, "reprise.toml"), (layer) => resolve([layer]))

const configOf = (text: string): Config => Result.getOrThrow(read(text))

const problemOf = (text: string): string => {
  const result = read(text)
  return Result.isFailure(result) ? `${result.failure.message} ${result.failure.hint}` : "there is no problem"
}

const agents = (text: string): ReadonlyArray<string> =>
  plannedAgents(agentOptions(configOf(text).settings)).map(({ model, role, rule, runtime, variant }) =>
    [role, runtime, model ?? "-", variant ?? "-", ...(rule === undefined ? [] : [rule.when])].join(" ")
  )

describe("the agents that settings describe", () => {
  it.each([
    ["", ["author opencode - -", "reviewer opencode - -"]],
    ['runtime = "claude"\nmodel = "opus"', ["author claude opus -", "reviewer claude opus -"]],
    [
      '[author]\nruntime = "claude"\nmodel = "opus"\nvariant = "high"',
      ["author claude opus high", "reviewer claude opus high"]
    ],
    ['[reviewer]\nruntime = "claude"', ["author opencode - -", "reviewer claude - -"]],
    ['reviewerRuntime = "claude"\nreviewerModel = "opus"', ["author opencode - -", "reviewer claude opus -"]],
    [
      '[author]\nruntime = "opencode-acp"\n[reviewer]\nruntime = "claude"\n[fixer]\nruntime = "opencode"',
      ["author acp:opencode acp - -", "reviewer claude - -", "fixer opencode - -"]
    ],
    [
      'model = "a/b"\n[[reviewer.rules]]\nfromReview = 3\nmodel = "c/d"\n[[reviewer.rules]]\ncontextOver = 0.8\nruntime = "claude"',
      [
        "author opencode a/b -",
        "reviewer opencode a/b -",
        "reviewer opencode c/d - from review 3 on",
        "reviewer claude - - when the context is over 80 % full"
      ]
    ],
    [
      '[[fixer.rules]]\nafterRetries = 2\nruntime = "codex"',
      [
        "author opencode - -",
        "reviewer opencode - -",
        "fixer opencode - -",
        "fixer acp:codex-acp - - after 2 failed retries"
      ]
    ]
  ])("%j", (text, expected) => {
    assert.deepStrictEqual(agents(text), expected)
  })

  it("are all runtimes that a host starts", () => {
    const { settings } = configOf(
      '[reviewer]\nruntime = "claude"\n[[fixer.rules]]\nafterRetries = 2\nruntime = "codex"'
    )
    assert.deepStrictEqual(configuredRuntimes(settings), ["opencode", "claude", "acp:codex-acp"])
  })
})

describe("a mistake in the agents", () => {
  it.each([
    ['[revewer]\nruntime = "claude"', /unknown key 'revewer'.*Did you mean 'reviewer'/],
    ["[reviewer]\nbogus = 1", /unknown key 'reviewer.bogus'.*\[reviewer\] has runtime, model, variant, rules\./],
    ["[fixer]\nbogus = 1", /\[fixer\] has runtime, model, variant, rules\./],
    ['[author]\nruntime = "curser"', /line 2: author\.runtime is not valid: .*got "curser"/],
    [
      'runtime = "claude"\n[author]\nruntime = "opencode"',
      /line 3 has the same setting twice: 'author\.runtime' and 'runtime'/
    ],
    [
      '[[reviewer.rules]]\nfromReview = 2\nruntime = "curser"',
      /line 1: reviewer\.rules is not valid: .*\[0\]\["runtime"\]/
    ],
    ['[[reviewer.rules]]\nfromReviews = 2\nmodel = "a/b"', /reviewer\.rules is not valid: .*fromReviews/],
    [
      '[[reviewer.rules]]\nmodel = "a/b"',
      /line 1: reviewer\.rules is not valid: rule 1 has no condition\. Write what always applies in \[reviewer\]/
    ],
    ["[[author.rules]]\nafterRetries = 2", /rule 1 names no runtime, model or variant/],
    ['[[reviewer.rules]]\nfromReview = 1\nmodel = "a/b"', /rule 1 holds for every review/],
    ['[[reviewer.rules]]\nfromReview = 0\nmodel = "a/b"', /greater than or equal to 1/],
    ['[[author.rules]]\ncontextOver = 80\nmodel = "a/b"', /less than 1/],
    [
      '[[reviewer.rules]]\nafterRetries = 2\nmodel = "a/b"',
      /rule 1 can never apply: only the author and the fixer retry/
    ],
    ['[[reviewer.rules]]\nfromReview = 6\nmodel = "a/b"', /rule 1 can never apply: limits\.maxReviewIterations is 5/],
    [
      '[[author.rules]]\nafterRetries = 7\nmodel = "a/b"',
      /can never apply: limits\.maxQualityRetries is 3 and limits\.maxAutoRetries is 3/
    ],
    [
      '[[reviewer.rules]]\nfromReview = 3\nmodel = "a/b"\n[[reviewer.rules]]\nfromReview = 2\nmodel = "c/d"',
      /rule 1 can never apply: a rule after it applies whenever it does/
    ],
    ['[reviewer]\nmodel = "gpt"', /line 2: reviewer\.model is not valid: Expected provider\/model, got "gpt"/],
    [
      '[[fixer.rules]]\nafterRetries = 1\nmodel = "gpt"',
      /fixer\.rules is not valid: Expected provider\/model, got "gpt" in rule 1/
    ],
    [
      '[reviewer]\nruntime = "claude"\nvariant = "huge"',
      /line 3: reviewer\.variant is not valid: Claude has no variant "huge".*low, medium, high/
    ]
  ])("%j is told with its place and the next step", (text, expected) => {
    assert.match(problemOf(text), expected)
  })

  it.each([
    // Each narrows the one before, or is about something else.
    '[[reviewer.rules]]\nfromReview = 2\nmodel = "a/b"\n[[reviewer.rules]]\nfromReview = 3\nmodel = "c/d"',
    '[[author.rules]]\nafterRetries = 2\nmodel = "a/b"\n[[author.rules]]\ncontextOver = 0.8\nmodel = "c/d"',
    '[[author.rules]]\nfromReview = 1\nmodel = "a/b"',
    "limits.maxReviewIterations = 9\n[[reviewer.rules]]\nfromReview = 9\nmodel = 'a/b'",
    '[reviewer]\nruntime = "claude"\nmodel = "opus"'
  ])("is none in %j", (text) => {
    assert.strictEqual(problemOf(text), "there is no problem")
  })
})

describe("where agents come from", () => {
  it("is explained, also where a rule is written in a file", () => {
    const rows = explained(
      configOf('[reviewer]\nruntime = "claude"\n[[reviewer.rules]]\nfromReview = 3\nmodel = "opus"')
    )
    const told = (setting: string) =>
      rows.filter((row) => row.setting === setting).map(({ from, value }) => [from, value])
    assert.deepStrictEqual(told("reviewerRuntime"), [["reprise.toml", "claude"]])
    assert.deepStrictEqual(told("reviewer.rules"), [["reprise.toml", [{ fromReview: 3, model: "opus" }]]])
    assert.deepStrictEqual(told("fixer.rules"), [["default", []]])
  })

  it("needs trust for every command that would be started, and for nothing else", () => {
    const config = configOf(
      'runtime = "claude"\n[reviewer]\nruntime = "acp:one"\n[fixer]\nruntime = "acp:two"\n[[fixer.rules]]\nafterRetries = 1\nruntime = "acp:three"\n[[author.rules]]\nafterRetries = 1\nmodel = "opus"'
    )
    assert.deepStrictEqual(
      trustedSettings(config).map(({ setting, values }) => [setting, ...values]),
      [
        ["reviewerRuntime", "acp:one"],
        ["fixer.runtime", "acp:two"],
        ["fixer.rules", "acp:three"]
      ]
    )
  })
})
