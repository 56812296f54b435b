import { assert, describe, it } from "@effect/vitest"
import { send } from "@reprise/actor"
import { RunView, SessionId, to, type Words } from "@reprise/protocol"
import { Schema } from "effect"
import { runView } from "../src/machine/view.ts"
import {
  afterGiving,
  atPhaseStart,
  decisionsOf,
  type Ledger,
  newestId,
  withWords,
  wordsFor
} from "../src/run/ledger.ts"
import { failedGate, item, onePhase, runId } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

const words = "Use the blue one.\n\n  Not {teal}, $& please."

/** The texts that the reviewer is handed, with who said them. */
const forReviewer = (s: Story) => s.command("RequestReview").words.map(({ from, text }) => `${from}: ${text}`)

/** Up to the review of the first phase. */
const reviewing = () => story().executing().worked("abc0001")

describe("what a human says with an answer", () => {
  it("is given to the session that continues, and not again in its later prompts", () => {
    const s = story().executing().needsHuman().answer("continue-session", words)
    assert.strictEqual(s.command("ContinueSession").guidance, words)
    s.completes("not a hash")
    assert.notInclude(s.prompt, words)
  })

  it("is given again when the turn broke before its agent had read it, and not when it broke later", () => {
    const failed = (promptGiven: boolean) => {
      const s = story().executing().needsHuman().answer("continue-session", words)
      return s.tell({ ...s.turnFailure("rate_limited", true), promptGiven }).answer("continue-session")
    }
    assert.strictEqual(failed(false).command("ContinueSession").guidance, words)
    assert.isUndefined(failed(true).command("ContinueSession").guidance)
  })

  it("is given to every fresh author of the phase", () => {
    const s = story().executing().needsHuman().answer("continue-session", words).needsHuman().answer("fix")
    assert.isTrue(s.prompt.endsWith(words))
  })

  it("does not reach the next phase, even if the turn that was given it broke", () => {
    const s = story().executing().needsHuman().answer("continue-session", words)
    s.turnFails("runtime").answer("override").treeClean()
    assert.strictEqual(s.phase.id, "2")
    assert.notInclude(s.prompt, words)
  })

  it("is for the next phase when the phase is approved with it", () => {
    const s = story()
      .executing({ gates: { phase: "human" } })
      .worked("abc0001")
      .verdict("ready")
    s.answer("continue", words).treeClean()
    assert.strictEqual(s.phase.id, "2")
    assert.isTrue(s.prompt.endsWith(words))
  })

  it("is given to the reviewer alone when it is about the review", () => {
    const s = reviewing().reviewFails().answer("fix", words)
    assert.deepStrictEqual(forReviewer(s), [`human: ${words}`])
    assert.notInclude(s.verdict("not_ready", item("R1")).prompt, words)
  })

  it("is for the reviewer alone when it came with an answer that was none, at the review", () => {
    const s = reviewing().reviewFails().answer("nonsense", words)
    assert.deepStrictEqual(
      s.run.ledger.map((entry) => entry.for),
      ["reviewer"]
    )
  })

  it("of a standalone session is given to every session that starts over", () => {
    const s = story().standalone().needsHuman().answer("fix", "First: mind the gap.")
    s.needsHuman().answer("fix", "Second: mind the step.")
    assert.isTrue(s.prompt.endsWith("First: mind the gap.\n\nSecond: mind the step."))
  })
})

describe("a reviewer", () => {
  it("is handed the author's reasons and the human's words apart", () => {
    const s = story().executing().needsHuman().answer("continue-session", words)
    s.completes("abc0001", { notes: "R1 is wrong: it is meant so." }).commitVerified()
    assert.deepStrictEqual(forReviewer(s), [`human: ${words}`, "author: R1 is wrong: it is meant so."])
  })

  it("that is fresh after a failed review is handed the open findings, the author's reasons and the human's words", () => {
    const s = reviewing().verdict("not_ready", item("R1"))
    s.needsHuman().answer("continue-session", words)
    s.completes("abc0002", { notes: "R1 is wrong: it is meant so." }).commitVerified()
    s.reviewFails().answer("fix")
    const { findings } = s.command("RequestReview")
    assert.deepStrictEqual(forReviewer(s), [`human: ${words}`, "author: R1 is wrong: it is meant so."])
    assert.deepStrictEqual(findings, [item("R1")])
  })

  it("is not handed what was said in an earlier phase", () => {
    const s = story().executing().needsHuman().answer("continue-session", words).phaseApproved("abc0001")
    s.completes("abc0002").commitVerified()
    assert.deepStrictEqual(forReviewer(s), [])
  })
})

describe("words with a permission", () => {
  const asked = () => story().executing().agentPrompts("p1")

  it("that is rejected go to the agent with the rejection, and not once more in its next prompt", () => {
    const s = asked().answer("reject", words)
    const sent = s.last.find((one) => one._tag === "SendCommand")
    const expected = to.sessionManager(s.author).ReplyToPrompt({ promptId: "p1", reply: "reject", message: words })
    assert.deepStrictEqual(sent, send(expected))
    assert.notInclude(s.completes("not a hash").prompt, words)
  })

  it("that is granted are in the agent's next prompt", () => {
    const s = asked().answer("once", words).completes("not a hash")
    assert.isTrue(s.prompt.endsWith(words))
  })

  it("that is granted are read by the author before its work counts as complete", () => {
    const s = asked().answer("once", words).completes("abc0001")
    assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
    assert.isTrue(s.prompt.endsWith(words))
    assert.strictEqual(s.completes("abc0002").command("VerifyCommit").commit, "abc0002")
  })

  it("that is granted are read by a fresh author where the session has ended with its report", () => {
    const s = asked().answer("once", words).agent("SessionExpired").completes("abc0001")
    assert.deepInclude(s.lines, "StepStarted EXECUTE (session-lost)")
    assert.isTrue(s.prompt.endsWith(words))
  })

  it("that is granted are read by the agent of a standalone session before that ends", () => {
    const s = story().standalone().agentPrompts("p1").answer("once", words).completes()
    assert.isTrue(s.prompt.endsWith(words))
    assert.strictEqual(s.completes().run.status, "completed")
  })

  it("that is granted to a reviewer are read by it before the phase is approved, and count as no new cycle", () => {
    const s = reviewing().agentPrompts("p1", "permission", story().executing().reviewer).answer("once", words)
    s.tell({ ...s.verdictEvent({ readiness: "ready", items: [] }), sessionId: s.reviewer })
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (words-unread)", "reviewer RequestReview"])
    assert.deepStrictEqual(forReviewer(s), [`human: > On the permission 'May I? (p1)' (once):\n${words}`])
    s.tell({ ...s.verdictEvent({ readiness: "ready", items: [] }), sessionId: s.reviewer })
    assert.strictEqual(s.run.step, "PHASE_GATE")
  })
})

describe("words at a checkpoint", () => {
  it("are given to the author after it, to later authors of the phase, and to the reviewer", () => {
    const s = story().executing({}, onePhase)
    s.reports({ result: "checkpoint", checkpoint: { task: "P1.1", type: "human-action", description: "Pay." } })
    s.stateWritten().answer("done", words).stateWritten().tasksVerified()
    assert.include(s.prompt, words)
    s.needsHuman().answer("fix").stateWritten().tasksVerified()
    assert.include(s.prompt, words)
    s.completes("abc0001").commitVerified()
    assert.deepStrictEqual(forReviewer(s), [`human: > At the checkpoint of P1.1 (done):\n${words}`])
  })

  it("are told the author once more, word for word, where the record only contains them by chance", () => {
    const s = story().executing({}, onePhase).agentPrompts("p1").answer("once", "done")
    s.reports({ result: "checkpoint", checkpoint: { task: "P1.1", type: "human-action", description: "Pay." } })
    s.stateWritten().answer("done", "It is done.").stateWritten().tasksVerified()
    assert.include(s.prompt, "On the permission 'May I? (p1)' (once):\ndone")
  })

  it("are not a human's where they are what the verify commands printed", () => {
    const many = Array.from({ length: 20 }, () => failedGate)
    const verify = { task: "P1.2", type: "human-verify", description: "Look" } as const
    const s = story().executing({ auto: true, gates: { verify: ["npm run look"] } }, onePhase)
    s.reports({ result: "checkpoint", checkpoint: verify, commit: "abc0001" }).stateWritten()
    const { attempt, checkpoint = "" } = s.command("RunQualityGates")
    s.tell({ _tag: "QualityFailed", runId, phase: "1", attempt, checkpoint, results: many })
    s.stateWritten().tasksVerified()
    assert.match(
      s.prompt,
      /The commands that verify the checkpoint have printed these lines[^\n]*\n> At the checkpoint of P1\.2/
    )
    assert.notInclude(s.prompt, "The user has provided")
  })
})

describe("the ledger of a long run", () => {
  const told = (n: number): Words => ({ from: "author", for: "reviewer", phase: "1", text: `Change ${n} is done.` })
  const reviewer = SessionId.make("r1-p1-s1")
  const giveAll = (ledger: Ledger): Ledger => afterGiving(ledger, ledger, { sessionId: reviewer })
  /** What is said first, and then so many reports of the author that the reviewer reads. */
  const after = (first: Ledger, reports = 1_000): Ledger =>
    Array.from({ length: reports }, (_, n) => told(n)).reduce<Ledger>((all, one) => giveAll(withWords(all, one)), first)
  const textsOf = (ledger: Ledger) => ledger.map(({ text }) => text)

  it("keeps the newest two hundred reports that the reviewer of the phase has read", () => {
    const ledger = after([])
    assert.deepStrictEqual(
      textsOf(wordsFor(ledger, "reviewer", "1")),
      Array.from({ length: 200 }, (_, n) => told(800 + n).text)
    )
    assert.strictEqual(newestId(ledger), 1_000)
  })

  it("never repeats an id", () => {
    const ids = after([]).map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    assert.deepStrictEqual(
      ids,
      ids.toSorted((one, other) => one - other)
    )
  })

  const human: Words = { from: "human", for: "both", phase: "1", text: words }
  const decision = {
    task: "P1.1",
    type: "decision",
    question: "Which?",
    answer: "A",
    at: "2026-01-01T00:00:00Z"
  } as const

  it("keeps what a human said until the phase is over", () => {
    const ledger = after(withWords([], human))
    assert.include(textsOf(wordsFor(ledger, "author", "1")), words)
    assert.notInclude(textsOf(atPhaseStart(ledger, "2")), words)
  })

  it("keeps every decision", () => {
    const ledger = after(withWords([], { ...human, decision }))
    assert.lengthOf(decisionsOf(atPhaseStart(ledger, "2")), 1)
  })

  it("keeps what nobody was given yet", () => {
    const unread = withWords([], { ...human, from: "author", text: "I stop here." })
    const ledger = Array.from({ length: 300 }, (_, n) => told(n)).reduce<Ledger>(
      (all, one) => withWords(all, one),
      unread
    )
    assert.lengthOf(ledger, 301)
  })

  it("keeps what was said between two phases for the one that begins", () => {
    const between = after(withWords([], { from: "human", for: "both", text: words }))
    assert.include(textsOf(wordsFor(atPhaseStart(between, "2"), "author", "2")), words)
  })
})

describe("the ledger of a run", () => {
  it("shows with a question what its agents will be told next", () => {
    const s = story().executing().needsHuman().answer("nonsense", words)
    const { willBeTold } = s.question.ask.evidence
    assert.deepStrictEqual(willBeTold, [
      { role: "author", text: words },
      { role: "reviewer", text: words }
    ])
  })

  it("shows in the view of the run who said what for whom, and which sessions were given it", () => {
    const s = story().executing().needsHuman().answer("continue-session", words)
    const view = Schema.encodeUnknownSync(RunView)(runView(s.state))
    assert.deepStrictEqual(view.ledger, [
      { from: "human", by: "anna", for: "both", phase: "1", text: words, givenTo: [s.author] }
    ])
  })
})
