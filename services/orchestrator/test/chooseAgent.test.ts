import { assert, describe, it } from "@effect/vitest"
import type { AgentChoice, AgentRule } from "@reprise/protocol"
import { chooseAgent, type Situation, withNamed } from "../src/agents/chooseAgent.ts"

const usual: AgentChoice = { runtime: "opencode", model: "first/one", variant: "low" }
const first: Situation = { review: 1, failedRetries: 0 }
const at = (more: Partial<Situation>): Situation => ({ ...first, ...more })

const third: AgentRule = { fromReview: 3, runtime: "claude", model: "opus" }
const retried: AgentRule = { afterRetries: 2, model: "second/two" }
const full: AgentRule = { contextOver: 0.8, variant: "high" }

describe("who does a role, by its rules and by how the phase stands", () => {
  it.each<[string, ReadonlyArray<AgentRule>, Situation, number, string]>([
    ["no rule", [], first, 0, "opencode first/one low"],
    ["the second review", [third], at({ review: 2 }), 0, "opencode first/one low"],
    ["the third review", [third], at({ review: 3 }), 0, "claude opus, rule 1: from review 3 on"],
    ["a later review", [third], at({ review: 7 }), 0, "claude opus, rule 1: from review 3 on"],
    ["one failed retry", [retried], at({ failedRetries: 1 }), 0, "opencode first/one low"],
    [
      "two failed retries",
      [retried],
      at({ failedRetries: 2 }),
      0,
      "opencode second/two, rule 1: after 2 failed retries"
    ],
    [
      "one retry",
      [{ afterRetries: 1, model: "x" }],
      at({ failedRetries: 1 }),
      0,
      "opencode x, rule 1: after 1 failed retry"
    ],
    ["a context that is exactly so full", [full], at({ contextFill: 0.8 }), 0, "opencode first/one low"],
    [
      "a fuller context",
      [full],
      at({ contextFill: 0.81 }),
      0,
      "opencode first/one high, rule 1: when the context is over 80 % full"
    ],
    ["a context that was not measured", [full], first, 0, "opencode first/one low"],
    [
      "one of two conditions",
      [{ ...third, contextOver: 0.5 }],
      at({ review: 3, contextFill: 0.4 }),
      0,
      "opencode first/one low"
    ],
    [
      "both conditions",
      [{ ...third, contextOver: 0.5 }],
      at({ review: 3, contextFill: 0.6 }),
      0,
      "claude opus, rule 1: from review 3 on and when the context is over 50 % full"
    ],
    [
      "two rules that apply: the last decides",
      [third, retried],
      at({ review: 3, failedRetries: 2 }),
      0,
      "opencode second/two, rule 2: after 2 failed retries"
    ],
    [
      "a rule that applied before",
      [full],
      first,
      1,
      "opencode first/one high, rule 1: when the context is over 80 % full"
    ],
    [
      "a rule that applied before, and one before it that applies now",
      [third, full],
      at({ review: 3 }),
      2,
      "opencode first/one high, rule 2: when the context is over 80 % full"
    ],
    [
      "a rule that applied before, and one after it that applies now",
      [full, third],
      at({ review: 3 }),
      1,
      "claude opus, rule 2: from review 3 on"
    ]
  ])("%s", (_, rules, situation, held, expected) => {
    const { model, rule, runtime, variant } = chooseAgent(usual, rules, situation, held)
    const agent = [runtime, ...(model === undefined ? [] : [model]), ...(variant === undefined ? [] : [variant])].join(
      " "
    )
    assert.strictEqual(rule === undefined ? agent : `${agent}, rule ${rule.number}: ${rule.when}`, expected)
  })

  it("looks at no rule anew where it is not told how the phase stands", () => {
    assert.deepStrictEqual(chooseAgent(usual, [third], undefined), usual)
    assert.strictEqual(chooseAgent(usual, [third], undefined, 1).runtime, "claude")
  })
})

describe("an agent with something named in place of its own", () => {
  it.each<[string, Partial<AgentChoice>, AgentChoice]>([
    ["nothing", {}, usual],
    ["its own runtime", { runtime: "opencode" }, usual],
    ["another runtime has no model of this one", { runtime: "claude" }, { runtime: "claude" }],
    ["another runtime with a model", { runtime: "claude", model: "opus" }, { runtime: "claude", model: "opus" }],
    ["another model has no variant of this one", { model: "x/y" }, { runtime: "opencode", model: "x/y" }],
    ["a variant alone is one of its model", { variant: "high" }, { ...usual, variant: "high" }]
  ])("%s", (_, named, expected) => {
    assert.deepStrictEqual(withNamed(usual, named), expected)
  })
})
