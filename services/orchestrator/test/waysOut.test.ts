/** Whatever a run waits for, each way in which that can end leads the run on. */
import { assert, describe, it } from "@effect/vitest"
import type { RunInput } from "../src/run/inputs.ts"
import type { Pending } from "../src/run/state.ts"
import { at, decision } from "./support/checkpoints.ts"
import { runId, withGates } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

type Ways = Readonly<Record<string, (s: Story) => RunInput>>

const refused = (command: string) => (): RunInput => ({
  _tag: "CommandRefused",
  runId,
  command,
  reason: "it cannot be"
})
const ends = ["SessionExpired", "SessionCompleted", "SessionAborted", "SessionFailed", "SessionArchived"] as const
const ended = (_tag: (typeof ends)[number]) => (s: Story) => ({ _tag, runId, sessionId: s.author, reason: "x" })
const stuck = { "a watch that finds nothing under way": (s: Story) => s.stuckReport() }
const workspaceFailed = (): RunInput => ({ _tag: "WorkspaceFailed", runId, operation: "x", reason: "disk full" })

/** One entry for each thing that a run can wait for, so that a new one does not compile without its ends. */
const waits: Readonly<Record<Exclude<Pending["_tag"], "Nothing">, readonly [() => Story, Ways]>> = {
  Turn: [
    () => story().executing(),
    {
      "a report": (s) => s.turnReport({ result: "needs_human", reason: "x" }),
      "a failure": (s) => s.turnFailure("runtime"),
      "an end of its session in the middle": (s) => ({ ...s.turnFailure("aborted"), sessionEnded: true }),
      "a refusal": refused("StartTurn"),
      ...stuck
    }
  ],
  Review: [
    () => story().executing().worked("abc0001"),
    {
      "a verdict": (s) => s.verdictEvent({ readiness: "ready", items: [] }),
      "a failure": (s) => ({
        ...{ _tag: "ReviewFailed", runId, phase: "1", reason: "x", kind: "runtime" },
        cycle: s.pending("Review").cycle
      }),
      "a refusal": refused("RequestReview"),
      ...stuck
    }
  ],
  Workspace: [
    () => story().executing(withGates).worked("abc0001"),
    { "a failure": workspaceFailed, "a refusal": refused("RunQualityGates"), ...stuck }
  ],
  Agent: [
    () => story().executing().needsHuman().agentWorks(),
    {
      "an idle agent": (s) => ({ _tag: "AgentIdle", runId, sessionId: s.author }),
      ...stuck,
      "an agent that is gone": (s) => ({ _tag: "AgentGone", runId, sessionId: s.author }),
      ...Object.fromEntries(ends.map((tag) => [tag, ended(tag)]))
    }
  ],
  Answer: [
    () => story().executing().needsHuman(),
    {
      "an answer": (s) => s.answerOf({ choice: "fix" }),
      "an answer that is none": (s) => s.answerOf({ choice: "nonsense" }),
      "a withdrawal by the gate": (s) => ({
        ...{ _tag: "EscalationWithdrawn", runId, reason: "superseded" },
        escalationId: s.question.ask.escalationId
      }),
      "an agent that works": (s) => ({
        ...{ _tag: "AgentWorking", runId, cause: "human", evidence: "x" },
        sessionId: s.author
      }),
      "a refusal by the gate": refused("RaiseEscalation")
    }
  ]
}

describe.each(Object.entries(waits))("a run that waits for: %s", (tag, [at, ways]) => {
  it.each(Object.entries(ways))("goes on after %s", (_, input) => {
    const s = at()
    assert.strictEqual(s.run.pending._tag, tag)
    const before = s.run.pending
    s.tell(input(s))
    assert.notDeepEqual(s.run.pending, before)
    assert.isTrue(
      s.run.pending._tag !== "Nothing" || s.run.status === "paused",
      "it waits for something else, or is paused"
    )
  })
})

describe("a run whose question the gate refused", () => {
  it("is paused with the reason, and begins its step again when it is resumed", () => {
    const s = story().executing().needsHuman().tell(refused("RaiseEscalation")())
    assert.deepStrictEqual(s.lines, ["RunPaused"])
    assert.match(
      s.run.notices.at(-1) ?? "",
      /refused the question 'I need to know more': it cannot be 'reprise resume'/
    )
    s.tell({ _tag: "ResumeRun", runId })
    assert.deepStrictEqual(s.lines.slice(0, 2), ["RunResumed", "StepStarted EXECUTE (resumed)"])
  })

  it("begins again with a fresh author where it is not known what the last one is doing", () => {
    const s = story().executing().turnFails("runtime").tell(refused("RaiseEscalation")())
    s.tell({ _tag: "ResumeRun", runId })
    assert.strictEqual(s.command("StartTurn").session._tag, "New")
  })

  it("goes on from the answer when the gate refuses only because that had come", () => {
    const s = story().executing().needsHuman()
    const answer = s.answerOf({ choice: "fix", guidance: "so" })
    s.tell({ ...refused("RaiseEscalation")(), code: "closed" } as RunInput)
    assert.include(s.tell(answer).prompt, "so")
  })

  it("rejects what an agent asks for and the gate refused to ask about, and keeps its turn", () => {
    const s = story().executing().agentPrompts("p1").tell(refused("RaiseEscalation")())
    assert.deepStrictEqual(s.lines, ["StepResumed EXECUTE (answer)", "session-manager ReplyToPrompt"])
    assert.strictEqual(s.journal.findLast((event) => event._tag === "PromptReplied")?.reply, "reject")
    assert.deepStrictEqual(s.completes("abc1234").lines.slice(-1), ["workspace VerifyCommit"])
  })

  it("ends where it is a standalone session, which nobody can resume", () => {
    const s = story().standalone().reports({ result: "needs_human", reason: "which?" })
    s.tell(refused("RaiseEscalation")())
    assert.strictEqual(s.run.status, "aborted")
    assert.match(s.run.reason ?? "", /The gate refused the question 'which\?': it cannot be/)
    assert.include(s.lines, "session-manager AbortSession")
  })

  it("looks at the tree again when it is resumed after its phase was approved", () => {
    const s = story().executing().needsHuman().answer("override").treeDirty("x").tell(refused("RaiseEscalation")())
    assert.deepStrictEqual([s.run.status, s.run.step], ["paused", "PHASE_COMPLETE"])
    assert.deepStrictEqual(s.tell({ _tag: "ResumeRun", runId }).lines, ["RunResumed", "workspace FinishPhase"])
  })

  it("asks again at its checkpoint when it is resumed", () => {
    const s = at(decision).tell(refused("RaiseEscalation")()).tell({ _tag: "ResumeRun", runId })
    assert.include(s.lines, "StepStarted CHECKPOINT (resumed)")
    s.stateWritten()
    assert.strictEqual(s.question.kind, "checkpoint")
  })

  it("goes on with the hand-over when the checkpoint before it is resolved", () => {
    const s = at(decision).answer("red").stateWritten()
    const { command } = s.pending("Workspace")
    const place = { runId, phase: s.phase.id, missingCommits: ["abc1"], missingFiles: [] }
    s.tell({ _tag: "ContinuationRejected", ...place }).tell(refused("RaiseEscalation")())
    s.tell({ _tag: "ResumeRun", runId }).stateWritten()
    assert.deepStrictEqual(s.pending("Workspace").command, command)
  })
})
