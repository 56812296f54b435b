import { assert, describe, it } from "@effect/vitest"
import { TurnId } from "@reprise/protocol"
import stringWidth from "string-width"
import { unsent } from "../src/views/gate/GateModel.ts"
import { undoMs } from "../src/views/gate/pressed.ts"
import { Gate, questionNamed, report } from "./support/gate.ts"
import { aQuestion, aSession } from "./support/views.ts"

const option = (name: string, guidance = "optional") => ({ name, label: name, keys: [], guidance })
const permission = (id: string) =>
  questionNamed(id, {
    origin: "permission",
    options: [option("once", "none"), option("always", "none"), option("reject")]
  })

describe("a key at the gate", () => {
  it.each([
    ["f\n", [{ choice: "fix" }]],
    ["fBlue\n", [{ choice: "fix", guidance: "Blue" }]],
    ["f: Blue\n", [{ choice: "fix", guidance: "Blue" }]],
    ["\n\n", [{ choice: "continue-session" }]],
    ["c", []],
    ["z\n\n", [{ choice: "continue-session" }]],
    ["q\n", []],
    ["o\n", []],
    ["qy\n", []],
    ["qn", []],
    ["q\nfGreen\n", []]
  ])("%j sends %j", (typed, answers) => {
    assert.deepStrictEqual(new Gate([aQuestion()]).type(typed).sent, answers)
  })

  it.each([
    ["f\n", [{ choice: "fix", commit: "c1" }]],
    ["cBlue\n", [{ choice: "continue-session", guidance: "Blue", commit: "c1" }]]
  ])("%j is for the commit that the question was shown with: %j", (typed, answers) => {
    assert.deepStrictEqual<unknown>(new Gate([aQuestion({ evidence: { commit: "c1" } })]).type(typed).sent, answers)
  })

  it("is for the commit that was shown when it was confirmed, also if the question changes before it is sent", () => {
    const gate = new Gate([aQuestion({ evidence: { commit: "c1" } })]).type("qy")
    gate.happens({ _tag: "Opened", question: aQuestion({ evidence: { commit: "c2" } }) }).tick(undoMs)
    assert.deepStrictEqual<unknown>(gate.sent, [{ choice: "abort", commit: "c1" }])
  })

  it("forks by the key that the web console has, too", () => {
    assert.include(new Gate([aQuestion()]).type("F").screen, "Another session tries again from the last turn")
  })

  const byAnother = () => {
    const { options } = aQuestion()
    return aQuestion({ options: options.map((one) => (one.name === "fix" ? { ...one, agent: true } : one)) })
  }

  it.each([
    ["f--runtime claude --model opus: Blue\n", [{ choice: "fix", guidance: "Blue", runtime: "claude", model: "opus" }]],
    ["f --runtime claude\n", [{ choice: "fix", runtime: "claude" }]],
    ["f --runtime nobody\n", []],
    ["c--runtime claude\n", [{ choice: "continue-session", guidance: "--runtime claude" }]]
  ])("%j names who takes over as %j", (typed, answers) => {
    assert.deepStrictEqual<unknown>(new Gate([byAnother()]).type(typed).sent, answers)
  })

  it("says how another agent is named, who takes over, and gives back what was refused", () => {
    const gate = new Gate([byAnother()]).type("f")
    assert.include(gate.screen, "Another agent first: --runtime, --model, --variant NAME:")
    assert.include(gate.type("--runtime claude: Blue").screen, "claude takes over for the rest of the phase.")
    gate.type("\n").happens({ _tag: "Refused", escalationId: "r1-abc-e1", message: "Claude is not installed." })
    assert.include(gate.screen, "Claude is not installed.")
    assert.include(gate.type("f").screen, "> --runtime claude: Blue")
  })

  it("forks the session with what was written, answers nothing, and gives back what could not be forked", () => {
    const gate = new Gate([aQuestion()]).type("R").type("Use a queue")
    assert.match(gate.screen, /in a worktree, and is told: Use\s+a queue\. The question stays open\./)
    gate.type("\n")
    assert.deepStrictEqual(gate.requests, [{ _tag: "Fork", question: aQuestion(), words: "Use a queue" }])
    assert.deepStrictEqual(unsent(gate.model), [])
    const message = "Session r1-abc-s1 cannot be forked."
    gate.happens({ _tag: "NotForked", escalationId: "r1-abc-e1", words: "Use a queue", message })
    assert.include(gate.screen, message)
    assert.deepStrictEqual(unsent(gate.model), ["Use a queue"])
    assert.include(gate.type("R").screen, "> Use a queue")
  })

  it("does not answer when it arrives with what answered the question before", () => {
    const gate = new Gate([questionNamed("a"), questionNamed("b")])
    gate.type("f").press("enter", "enter", "enter", "enter")
    assert.deepStrictEqual(gate.sent, [{ choice: "fix" }])
    gate.happens({ _tag: "Sent", escalationId: "a-e1" })
    const typedAtTheFirst = { _tag: "Arrived", what: report("\r", { return: true }), seen: "a-e1" } as const
    gate.happens(typedAtTheFirst).happens(typedAtTheFirst)
    assert.deepStrictEqual(gate.sent, [])
    assert.notInclude(gate.screen, "Enter send")
  })

  it("takes a permission only with Enter, after it has said what the agent will be told", () => {
    const gate = new Gate([permission("a")]).type("o")
    assert.deepStrictEqual(gate.sent, [])
    assert.include(gate.screen, "The agent will be told: once")
    assert.deepStrictEqual(gate.type("\n").sent, [{ choice: "once" }])
  })

  it("says why a choice is not offered", () => {
    const { options } = aQuestion()
    const gate = new Gate([
      aQuestion({ options: options.slice(1), evidence: { continueUnavailable: "the session has ended" } })
    ])
    assert.include(gate.type("c").screen, "continue-session is not offered here: the session has ended")
    assert.deepStrictEqual(gate.type("\n\n").sent, [{ choice: "fix" }])
  })

  it("recommends nothing where only the human can know", () => {
    const gate = new Gate([aQuestion({ origin: "checkpoint", options: [option("pass"), option("fail")] })])
    assert.deepStrictEqual(gate.type("\n\n").sent, [])
    assert.include(gate.screen, "No choice is recommended here")
    assert.deepStrictEqual(gate.type("p\n").sent, [{ choice: "pass" }])
  })
})

describe("a choice that cannot be taken back", () => {
  it("is sent some seconds after it was confirmed", () => {
    const gate = new Gate([aQuestion()]).type("qy").tick(undoMs - 1)
    assert.deepStrictEqual(gate.sent, [])
    assert.include(gate.screen, "Will be sent in 1 s")
    assert.deepStrictEqual(gate.tick(1).sent, [{ choice: "abort" }])
  })

  it.each(["u", "U"])("is undone with %s until then", (key) => {
    const gate = new Gate([aQuestion()])
      .type("qy")
      .tick(undoMs - 1)
      .type(key)
      .tick(undoMs)
    assert.deepStrictEqual(gate.sent, [])
    assert.include(gate.screen, "Undone; the question stays open.")
  })

  it("is not sent when the human leaves before", () => {
    const gate = new Gate([aQuestion()]).type("oy").press("interrupt")
    assert.deepStrictEqual(gate.requests, [{ _tag: "Leave", by: "interrupt" }])
  })

  it("takes a reason along", () => {
    const gate = new Gate([aQuestion()]).type("q:too dear\ny").tick(undoMs)
    assert.deepStrictEqual(gate.sent, [{ choice: "abort", guidance: "too dear" }])
  })

  it("says that the phase counts as approved", () => {
    assert.include(new Gate([aQuestion()]).type("o").screen, "No agent is told anything: the phase counts as approved.")
  })
})

describe("what is written for an agent", () => {
  it("keeps the lines of a paste, which answers nothing elsewhere", () => {
    const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`).join("\r")
    const gate = new Gate([aQuestion()]).arrives(report(`${lines}\r`))
    assert.include(gate.screen, "Pasted text is not an answer.")
    gate.type("f").arrives(report(`${lines}\r`))
    assert.deepStrictEqual(gate.sent, [])
    assert.include(gate.screen, "line 199")
    const [answer] = gate.type("\n").sent
    assert.strictEqual(answer?.guidance, lines.replaceAll("\r", "\n"))
  })

  it("is edited across lines, emoji by emoji", () => {
    const gate = new Gate([aQuestion()]).type("fone 👩‍👩‍👧")
    gate
      .press("backspace", "newLine")
      .type("two")
      .press("up", "lineEnd")
      .type("!")
      .press("down", "lineStart")
      .type("> ")
    assert.deepStrictEqual(gate.type("\n").sent, [{ choice: "fix", guidance: "one !\n> two" }])
  })

  it("is still there after another question was shown", () => {
    const gate = new Gate([questionNamed("a"), questionNamed("b")]).type("fBlue").press("escape").type("s")
    assert.strictEqual(gate.model.current, "b-e1")
    assert.deepStrictEqual(gate.type("ss".slice(1)).type("f\n").sent, [{ choice: "fix", guidance: "Blue" }])
  })

  it("is given back when somebody else answers first", () => {
    const gate = new Gate([questionNamed("a"), questionNamed("b")]).type("fBlue")
    gate.happens({ _tag: "Closed", escalationId: "a-e1", how: "was answered by ada: fix." })
    assert.deepStrictEqual(gate.requests, [{ _tag: "Keep", escalationId: "a-e1", text: "Blue" }])
    assert.include(gate.screen, "a-e1 was answered by ada: fix. What you wrote was not sent")
    assert.strictEqual(gate.model.current, "b-e1")
  })

  it("comes from the editor, also when somebody else answered meanwhile", () => {
    const gate = new Gate([questionNamed("a")]).type("fBlue").press("editor")
    const [edit] = gate.requests
    assert.containSubset(edit, { _tag: "Edit", text: "Blue" })
    gate.happens({ _tag: "Closed", escalationId: "a-e1", how: "was answered by ada: fix." })
    gate.happens({ _tag: "Edited", escalationId: "a-e1", text: "Blue\nor green" })
    assert.deepStrictEqual(gate.requests, [{ _tag: "Keep", escalationId: "a-e1", text: "Blue\nor green" }])
    assert.include(gate.screen, "was answered by ada")
  })

  it("is given back when the human leaves, also what was written for other questions", () => {
    const gate = new Gate([questionNamed("a"), questionNamed("b"), questionNamed("c")])
    gate.type("fBlue").press("escape").type("sfGreen").press("interrupt")
    assert.deepStrictEqual([...unsent(gate.model)].sort(), ["Blue", "Green"])
    gate.type("\n")
    assert.deepStrictEqual(unsent(gate.model), ["Blue"], "what is being sent is not given back")
  })

  it("is not given back once it was sent, although it was laid aside before", () => {
    const gate = new Gate([questionNamed("a")]).type("fBlue").press("escape").type("f!\n")
    assert.deepStrictEqual(gate.sent, [{ choice: "fix", guidance: "Blue!" }])
    assert.deepStrictEqual(unsent(gate.model), [])
    gate.happens({ _tag: "Sent", escalationId: "a-e1" })
    assert.deepStrictEqual(unsent(gate.model), [])
  })

  it("is required where a choice needs it", () => {
    const gate = new Gate([aQuestion({ origin: "question", options: [option("other", "required")] })]).type("o\n")
    assert.deepStrictEqual(gate.sent, [])
    assert.include(gate.screen, "This choice needs your words.")
  })

  it("stays when the gate refuses it", () => {
    const gate = new Gate([aQuestion()]).type("fBlue\n")
    gate.happens({ _tag: "Refused", escalationId: "r1-abc-e1", message: "The gate is away." })
    assert.include(gate.screen, "The gate is away.")
    assert.deepStrictEqual(gate.type("f\n").sent, [
      { choice: "fix", guidance: "Blue" },
      { choice: "fix", guidance: "Blue" }
    ])
  })
})

describe("several questions", () => {
  const three = () => ["a", "b", "c"].map((id) => questionNamed(id, { reason: `Which ${id}?` }))

  it("are counted, skipped and filtered", () => {
    const gate = new Gate(three())
    assert.match(gate.rows[0] ?? "", /1 of 3/)
    assert.match(gate.type("s").rows[0] ?? "", /2 of 3/)
    assert.match(gate.press("left", "left").rows[0] ?? "", /3 of 3/)
    assert.include(gate.type("/which b").screen, "Which b?")
    assert.notMatch(gate.rows[0] ?? "", / of /)
    assert.match(gate.press("escape").rows[0] ?? "", /2 of 3/)
  })

  it("come and go while one is read", () => {
    const gate = new Gate(three().slice(1)).type("fBlue")
    gate.happens({ _tag: "Opened", question: questionNamed("a", { raisedAt: "2026-01-01T09:00:00.000Z" }) })
    assert.strictEqual(gate.model.current, "b-e1")
    gate.happens({ _tag: "Closed", escalationId: "a-e1", how: "is closed." })
    assert.deepStrictEqual(gate.type("\n").sent, [{ choice: "fix", guidance: "Blue" }])
    gate.happens({ _tag: "Sent", escalationId: "b-e1" })
    assert.strictEqual(gate.model.current, "c-e1")
    assert.include(gate.screen, "Answered b-e1.")
    gate.happens({ _tag: "Closed", escalationId: "c-e1", how: "is closed." })
    assert.include(gate.screen, "No question is open.")
  })
})

describe("the picture of the gate", () => {
  const long = aQuestion({
    reason: `${"word ".repeat(400)}\n\x1b[2J\x1b]0;owned\x07\u202eשלום 👩‍👩‍👧 漢字\n${"x".repeat(500)}`,
    evidence: { planPath: "PLAN.md", phaseTitle: "One 🚀", lastLines: "y\n".repeat(100) }
  })

  it.each([30, 40, 80, 200])("has exactly the rows of the terminal, none wider than %d columns", (columns) => {
    for (const rows of [10, 16, 40]) {
      const gate = new Gate([long, questionNamed("b")], { columns, rows })
      for (const keys of ["", "?", "x", "f", "Blue", "\n"]) {
        gate.type(keys)
        assert.strictEqual(gate.rows.length, rows)
        for (const row of gate.rows) assert.isAtMost(stringWidth(row), columns)
      }
      assert.notInclude(gate.screen, "\x1b")
      assert.notInclude(gate.screen, "\u202e")
    }
  })

  it("shows every row of a long page to whoever scrolls", () => {
    const reason = Array.from({ length: 300 }, (_, n) => `row ${n}.`).join("\n")
    const gate = new Gate([aQuestion({ reason })])
    const seen = new Set<string>()
    for (let n = 0; n < 60; n++) {
      for (const [found] of gate.screen.matchAll(/row \d+\./g)) seen.add(found)
      gate.press("pageDown")
    }
    assert.strictEqual(seen.size, 300)
    assert.include(gate.press("end").screen, "more above")
    assert.include(gate.press("start").screen, "row 0.")
  })

  it("tells who asks, with which model and in its own words", () => {
    const gate = new Gate([aQuestion({ evidence: { lastLines: "I could not decide." } })])
    gate.happens({ _tag: "SessionRead", escalationId: "r1-abc-e1", session: aSession({ model: "maker/model-1" }) })
    assert.include(gate.screen, "The author needs you, 5 min ago, maker/model-1")
    assert.include(gate.screen, "│ I could not decide.")
  })

  it("shows the whole conversation, from its end back to its beginning, and no line of an agent as a title", () => {
    const gate = new Gate([aQuestion()]).type("4")
    const said = Array.from({ length: 200 }, (_, n) => `  word ${n} of the agent.`)
    const text = ["user", "  The task.", "assistant", ...said, "  user"].join("\n")
    gate.happens({ _tag: "Looked", escalationId: "r1-abc-e1", tab: "transcript", text })
    assert.match(gate.screen, /│ word 199 of the agent\.\n {2}│ user\n/)
    const first = gate.press("start").screen
    assert.match(first, /\nuser\n {2}│ The task\.\nassistant\n {2}│ word 0 of the agent\.\n[\s\S]*more below/)
  })

  it("shows what the agents write now at the end of the transcript", () => {
    const gate = new Gate([aQuestion()]).type("4")
    const { runId, sessionId } = aSession()
    const turn = { runId, sessionId, turnId: TurnId.make("t1"), role: "author", part: "p", kind: "text" } as const
    for (let n = 0; n < 300; n++) {
      const text = `${"z".repeat(3_990)} ${n}.\n`
      gate.happens({ _tag: "Heard", message: { _tag: "AgentSaid", ...turn, text } })
    }
    assert.include(gate.screen, " 299.")
  })
})
