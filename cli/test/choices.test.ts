import { assert, describe, it } from "@effect/vitest"
import { consequence, keyedChoices, recommended } from "../src/views/gate/choices.ts"
import { aQuestion } from "./support/views.ts"

const options = (...names: ReadonlyArray<string>) =>
  names.map((name) => ({ name, label: `do ${name}`, keys: [], guidance: "optional" }))

describe("the key of a choice", () => {
  it.each([
    [["pass", "fail"], "pf"],
    [["once", "always", "reject"], "owr"],
    [["done", "cannot"], "oc"],
    [["approve", "other", "abort"], "pob"],
    [["continue", "pause"], "cp"],
    [["PostgreSQL", "postgres", "SQLite"], "poq"],
    [["漢字", "ab"], "bc"]
  ])("of %j is %s", (names, keys) => {
    const keyed = keyedChoices(aQuestion({ options: options(...names) }))
    assert.strictEqual(keyed.map(({ key }) => key).join(""), keys)
  })

  it("is its own where it has one, and never that of something else", () => {
    const own = keyedChoices(aQuestion()).map(({ key }) => key)
    assert.deepStrictEqual(own, ["c", "f", "o", "q"])
    const many = keyedChoices(aQuestion({ options: options(...Array.from({ length: 40 }, (_, n) => `dat${n}`)) }))
    const given = many.map(({ key }) => key).filter((key) => key !== "")
    assert.strictEqual(new Set(given).size, given.length)
    for (const key of given) assert.notMatch(key, /[adejklst?/ 1-4]/)
  })
})

describe("the recommended choice", () => {
  const checkpoint = (recommended: boolean) => ({
    task: "1.1",
    type: "decision",
    description: "Which?",
    options: [
      { id: "a", label: "A" },
      { id: "b", label: "B", recommended }
    ]
  })

  it.each([
    [{}, "continue-session"],
    [{ options: options("fix", "override", "abort") }, "fix"],
    [{ origin: "permission", options: options("once", "always", "reject") }, "once"],
    [{ origin: "continuation", options: options("retry", "redo", "abort") }, "retry"],
    [{ origin: "phase-gate", options: options("continue", "pause", "abort") }, "continue"],
    [{ origin: "question", options: options("yes", "other") }, undefined],
    [{ origin: "checkpoint", options: options("pass", "fail") }, undefined],
    [{ origin: "checkpoint", options: options("a", "b"), evidence: { checkpoint: checkpoint(true) } }, "b"],
    [{ origin: "checkpoint", options: options("a", "b"), evidence: { checkpoint: checkpoint(false) } }, undefined],
    [{ options: options("override", "abort") }, undefined]
  ])("of %j is %s", (given, name) => {
    assert.strictEqual(recommended(aQuestion(given))?.name, name)
  })
})

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
    [{ origin: "phase-gate" }, "continue", "", "No agent is told anything: the run goes on."]
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
