import { assert, describe, it } from "@effect/vitest"
import { consequence } from "../src/views/gate/choices.ts"
import { aQuestion } from "./support/views.ts"

const options = (...names: ReadonlyArray<string>) =>
  names.map((name) => ({ name, label: `do ${name}`, keys: [], guidance: "optional" }))

describe("what follows from a choice", () => {
  const step = {}
  const permission = { origin: "permission" }
  const plan = { origin: "plan" }

  it.each([
    [step, "continue-session", "", "The agent will be told: go on where you stopped."],
    [step, "continue-session", " Blue ", "The agent will be told: Blue"],
    [step, "fix", "", "The agent will be told: its task again, without more words."],
    [step, "override", "late", "No agent is told anything: the phase counts as approved. Recorded as the reason: late"],
    [step, "abort", "", "No agent is told anything: the run ends."],
    [step, "change-model", "a/b", "No agent is told anything: the next turn has model a/b."],
    [plan, "fix", "", "No agent is told anything: the plan is read again."],
    [plan, "override", "", "No agent is told anything; the phases stay as they were."],
    [permission, "once", "", "The agent will be told: do once"],
    [permission, "reject", "use npm", "The agent will be told: do reject: use npm"],
    [{ origin: "question" }, "abort", "", "The agent will be told: do abort"],
    [{ origin: "question" }, "other", "Neither", "The agent will be told: Neither"],
    [{ origin: "checkpoint" }, "fail", "step 2", "The agent will be told: do fail: step 2"],
    [{ origin: "phase-gate" }, "continue", "", "No agent is told anything: the run continues."]
  ])("of %j, %s with '%s' is said", (given, name, words, text) => {
    const question = aQuestion({ ...given, options: options(name) })
    const [option] = question.options
    assert.strictEqual(option === undefined ? "" : consequence(question, option, words), text)
  })

  it.each([
    [
      "--runtime claude --model opus: Blue",
      "claude, model opus takes over for the rest of the phase. The agent will be told: Blue"
    ],
    [
      "--model a/b --variant high",
      "The author with model a/b, variant high takes over for the rest of the phase. The agent will be told: its task again, without more words."
    ],
    [
      "--runtime nobody",
      "There is no runtime 'nobody'. Name one of: opencode, claude, or the acp:COMMAND of the setting runtime."
    ],
    ["Blue --runtime claude", "The agent will be told: Blue --runtime claude"]
  ])("of fix by another, '%s' is said", (words, text) => {
    const option = { name: "fix", label: "fix", keys: ["f"], guidance: "optional", agent: true } as const
    assert.strictEqual(consequence(aQuestion({ options: [option] }), option, words), text)
  })

  it("names what was said before and goes along", () => {
    const question = aQuestion({ evidence: { willBeTold: [{ role: "author", text: "Use Rust." }] } })
    const [option] = question.options
    const text = option === undefined ? "" : consequence(question, option, "Blue")
    assert.strictEqual(text, "The agent will be told: Blue\nAnd what was said before: Use Rust.")
  })
})
