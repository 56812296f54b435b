import { assert, describe, it } from "@effect/vitest"
import { type OfferedChoices, parseAnswer } from "../src/typedAnswer.ts"
import { option, stepOptions } from "./fixtures.ts"

const step: OfferedChoices = { options: stepOptions, evidence: {} }
const noContinue: OfferedChoices = {
  options: stepOptions.filter(({ name }) => name !== "continue-session"),
  evidence: { continueUnavailable: "the session was aborted" }
}
const phaseGate: OfferedChoices = { options: ["continue", "pause", "abort"].map((name) => option(name)), evidence: {} }
const labels: OfferedChoices = {
  options: [option("Use: sqlite"), option("Use"), option("other", { guidance: "required" })],
  evidence: {}
}

/** A choice as `name` or `name|guidance`, something to look at as `look:what`, else the message. */
const read = (line: string, question: OfferedChoices): string => {
  const answer = parseAnswer(line, question)
  switch (answer._tag) {
    case "Chosen":
      return answer.guidance === undefined ? answer.option.name : `${answer.option.name}|${answer.guidance}`
    case "Look":
      return `look:${answer.what}`
    case "Fork":
      return ["fork", answer.at, answer.words].filter((part) => part !== undefined).join("|")
    case "AskAgain":
      return answer.message
  }
}

describe("what a human types at the gate", () => {
  it.each([
    ["c", step, "continue-session"],
    ["c: use sqlite", step, "continue-session|use sqlite"],
    ["c:use sqlite", step, "continue-session|use sqlite"],
    ["c : a: b", step, "continue-session|a: b"],
    ["c:", step, "continue-session"],
    ["continue-session: go on", step, "continue-session|go on"],
    ["f: line one\nline two", step, "fix|line one\nline two"],
    ["F", step, "fix"],
    ["o", step, "override"],
    ["approve", step, "override"],
    ["q", step, "abort"],
    ["abort", step, "abort"],
    ["continue", phaseGate, "continue"],
    ["pause: lunch", phaseGate, "pause|lunch"],
    ["Use: sqlite", labels, "Use: sqlite"],
    ["Use: postgres", labels, "Use|postgres"],
    ["Use: sqlite: in memory", labels, "Use|sqlite: in memory"],
    ["other: neither", labels, "other|neither"],
    ["d", step, "look:diff"],
    ["t", step, "look:transcript"],
    ["l", step, "look:log"],
    ["A", step, "look:attach"],
    ["fork", step, "fork"],
    ["Fork: a queue: please\nwith a test", step, "fork|a queue: please\nwith a test"],
    ["fork --at 2", step, "fork|2"],
    ["fork --at 2: a queue", step, "fork|2|a queue"],
    ["fork", { options: [option("fork")], evidence: {} }, "fork"]
  ])("reads %j as the option, its guidance, something to look at or a fork", (line, question, expected) => {
    assert.strictEqual(read(line, question), expected)
  })

  it.each([
    ["c", noContinue],
    ["c: please", noContinue],
    ["continue-session", noContinue],
    ["continue-session: please", noContinue]
  ])("asks again and gives the reason after %j when continue-session is not offered", (line, question) => {
    assert.match(
      read(line, question),
      /^continue-session is not offered here: the session was aborted\. Choose one of: fix/
    )
  })

  it.each(["continue-session", "continue-session: x", "c"])("never reads %j as continue at a phase gate", (line) => {
    assert.match(read(line, phaseGate), /^continue-session is not offered here/)
  })

  it.each(["", "   ", "x", "cc", "c please", "continue", "continue session", ": text", "-session", "fix it", "e"])(
    "asks again after the unknown words %j",
    (line) => {
      assert.match(read(line, step), /Choose one of: continue-session \(c\), fix \(f\), override \(o\), abort \(q\)\.$/)
    }
  )

  const agentIn = (line: string) => {
    const answer = parseAnswer(line, step)
    return answer._tag === "Chosen"
      ? [answer.option.name, answer.named, answer.guidance]
      : answer._tag === "AskAgain" && answer.message
  }

  it.each([
    ["f --runtime claude", { runtime: "claude" }, undefined],
    ["f --runtime claude: use it", { runtime: "claude" }, "use it"],
    ["fix --model=a/b:8x --runtime=opencode : x --model y", { model: "a/b:8x", runtime: "opencode" }, "x --model y"],
    ["f --variant high --model a/b: think", { variant: "high", model: "a/b" }, "think"],
    ["f --model ollama/llama3:8b: a\nb", { model: "ollama/llama3:8b" }, "a\nb"],
    ["f --runtime 'acp:opencode acp'", { runtime: "acp:opencode acp" }, undefined],
    ['f --runtime "claude": x', { runtime: "claude" }, "x"],
    ["f: --runtime claude", undefined, "--runtime claude"]
  ])("reads the agent of %j", (line, named, guidance) => {
    assert.deepStrictEqual<unknown>(agentIn(line), ["fix", named, guidance])
  })

  it.each([
    [
      "f --runtime",
      /'--runtime' is not understood\. Write --runtime NAME, --model NAME or --variant NAME, then a colon/
    ],
    ["f --runtime claude use it", /'use it' is not understood/],
    ["f --runtime nobody", /There is no runtime 'nobody'\. Name one of: opencode, claude/],
    ["f --model 'a b'", /'a b' names no model/],
    ["f --variant 'very high'", /'very high' names no variant/],
    ["q --runtime claude", /'abort' starts no fresh author here/],
    ["x --runtime claude", /is not one of the choices/]
  ])("asks again after %j", (line, message) => {
    assert.match(String(agentIn(line)), message)
  })

  it("says why continue-session is not offered, also with an agent", () => {
    assert.match(read("c --model a/b", noContinue), /^continue-session is not offered here/)
  })

  it("accepts an option's key in upper or lower case", () => {
    const question = { options: [option("drop", { keys: ["D"] })], evidence: {} }
    assert.strictEqual(read("d", question), "drop")
    assert.strictEqual(read("D", question), "drop")
  })

  it("says that a question without a session does not concern one, when continue-session is asked for", () => {
    assert.strictEqual(
      read("c", phaseGate),
      "continue-session is not offered here: this question does not concern a session. Choose one of: continue, pause, abort."
    )
  })

  it("prefers an option's own key to a key that shows something", () => {
    const question = { options: [option("drop", { keys: ["d"] })], evidence: {} }
    assert.strictEqual(read("d", question), "drop")
  })
})
