import { assert, describe, it } from "@effect/vitest"
import { EscalationId, Host, isStandalone, Key, RunId, SessionId, TurnId } from "@reprise/protocol"
import { sessionActor } from "../src/actor/actor.ts"
import type { SessionInput } from "../src/actor/inputs.ts"
import { viewOf } from "../src/actor/view.ts"
import * as story from "./support/story.ts"
import { given, goodReport, key, sessionId } from "./support/story.ts"

const ownRun = RunId.make(key)
/** The same input for a turn of this session, whose turn ids begin with its own id. */
const own =
  <Args extends ReadonlyArray<unknown>, Input extends { readonly turnId: TurnId }>(make: (...args: Args) => Input) =>
  (...args: Args): Input => {
    const input = make(...args)
    return { ...input, turnId: TurnId.make(input.turnId.replace("r1-", `${key}-`)) }
  }
const answer = own(story.answer)
const failed = own(story.failed)
const found = own(story.found)
const opened = own(story.opened)
const stopped = own(story.stopped)

const task = "Write hello.txt."
const start: SessionInput = {
  _tag: "StartSession",
  sessionId,
  prompt: task,
  runtime: "opencode",
  directory: "/work/repository",
  host: Host.make("h1"),
  permissions: "ask",
  limits: { maxTokens: 1000 }
}
const reports = (result: string, reason = "why") =>
  answer(1, 2, ["```json", JSON.stringify({ result, reason }), "```"].join("\n"))

const working = [start, opened(1)]
const reported = [...working, answer(1, 1, "I did it.")]
const needsHuman = [...reported, reports("needs_human", "Which greeting?")]

const gate = { by: "ann", via: "cli", runId: ownRun, sessionId } as const
const answered = (n: number, choice: string, guidance?: string): SessionInput => ({
  _tag: "EscalationAnswered",
  escalationId: EscalationId.make(`${key}-e${n}`),
  choice,
  ...gate,
  ...(guidance === undefined ? {} : { guidance })
})
const prompting: SessionInput = {
  _tag: "RecordAgentQuestion",
  promptId: "p1",
  kind: "permission",
  text: "bash: ls",
  options: ["once", "always", "reject"].map((name) => ({ name, label: name }))
}
const human: SessionInput = { _tag: "ReportActivity", cause: "human", evidence: "text" }
const names = (outcome: ReturnType<ReturnType<typeof given>["when"]>) =>
  outcome.event("EscalationRequested").ask.options.map(({ name }) => name)

describe("a standalone session", () => {
  it("starts with a new session, whose id stands for the run's in all its events", () => {
    const outcome = given([]).when(start)
    assert.deepStrictEqual(outcome.types, ["TurnRequested"])
    assert.deepInclude(outcome.event("TurnRequested").session, { runId: ownRun, standalone: true, title: task })
    assert.deepInclude(viewOf(outcome.state), { runId: ownRun, prompt: task })
  })

  it("is not started twice, and its id is not taken over", () => {
    given(working).when(start).then([])
    given(working)
      .when({ ...start, prompt: "Something else." })
      .refused(/exists already/)
    given([])
      .when({ ...start, prompt: "  " })
      .refused(/prompt is empty/)
  })

  it("is completed when its agent is done", () => {
    const outcome = given(reported).when(answer(1, 2, goodReport))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "TurnCompleted", "SessionCompleted"])
    assert.deepStrictEqual(
      outcome.work.map(({ work }) => work._tag),
      ["SaveTranscript"]
    )
  })

  it.each(["needs_human", "failed", "checkpoint"])("asks a human when its agent reports %s", (result) => {
    const outcome = given(reported).when(reports(result))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "TurnCompleted", "EscalationRequested"])
    assert.deepStrictEqual(names(outcome), ["continue-session", "fix", "abort"])
    assert.deepInclude(outcome.event("EscalationRequested").ask, {
      runId: ownRun,
      sessionId,
      origin: "author",
      reason: "why"
    })
    assert.deepInclude(
      outcome.sent.find(({ _tag }) => _tag === "SendCommand"),
      { service: "gate" }
    )
  })

  it.each([
    ["gone", ["continue-session", "fix", "abort"]],
    ["timeout", ["fix", "abort"]],
    ["session-missing", ["fix", "abort"]]
  ] as const)("asks a human when its turn fails as %s, and does not end by itself", (kind, options) => {
    const outcome = given(working).when(failed(1, 1, kind))
    assert.deepStrictEqual(names(outcome), [...options])
    const { ask } = outcome.event("EscalationRequested")
    const offered = names(outcome).includes("continue-session")
    assert.deepStrictEqual(
      [ask.sessionId, ask.evidence.sessionId],
      offered ? [sessionId, undefined] : [undefined, sessionId]
    )
    assert.isTrue(isStandalone(ask))
    assert.strictEqual(outcome.types.at(-1), "EscalationRequested")
    assert.notInclude(["aborted", "failed"], outcome.state.status)
  })

  it("gives each turn what is left of its budget", () => {
    const outcome = given(needsHuman).when(answered(1, "continue-session"))
    assert.strictEqual(outcome.event("TurnRequested").session.limits.maxTokens, 1000 - 24)
  })
})

describe("the answer to a standalone session", () => {
  it("continue uses the same session, with the guidance word for word", () => {
    const outcome = given(needsHuman).when(answered(1, "continue-session", "Say hi."))
    assert.deepStrictEqual(outcome.types, ["EscalationClosed", "TurnRequested"])
    assert.deepInclude(outcome.work[0]?.work, { _tag: "InspectSession", runtimeSessionId: "ses_1" })
    assert.match(outcome.event("TurnRequested").turn.prompt, /^Continue the current session[\s\S]*Say hi\.$/)
  })

  it("fix starts over in a new runtime session, and publishes the replacement", () => {
    const outcome = given(needsHuman).when(answered(1, "fix", "Say hi."))
    assert.deepStrictEqual(outcome.types, ["EscalationClosed", "TurnRequested", "SessionLost"])
    const replaced = given([...needsHuman, answered(1, "fix", "Say hi.")]).when(opened(2, "ses_2"))
    assert.deepInclude(replaced.event("SessionReplaced"), { old: "ses_1", new: "ses_2" })
    assert.match(replaced.event("PromptPrepared").text, /^Write hello\.txt\.[\s\S]*Say hi\.$/)
  })

  it("hands a fix nothing of the earlier conversation, though it was saved", () => {
    const saved: SessionInput = { _tag: "RecordArchived", object: `session/${key}/ses_1`, messages: 4 }
    const outcome = given([...needsHuman, saved]).when(answered(1, "fix"))
    assert.deepStrictEqual(
      outcome.work.map(({ work }) => work._tag),
      ["OpenSession"]
    )
    assert.notProperty(outcome.work[0]?.work, "transcript")
  })

  it("abort ends it", () => {
    const outcome = given(needsHuman).when(answered(1, "abort", "no use"))
    assert.deepStrictEqual(outcome.types, ["EscalationClosed", "SessionAborted"])
    assert.strictEqual(outcome.event("SessionAborted").reason, "aborted by ann through cli: no use")
  })

  it("counts once, and only for the open escalation", () => {
    given([...needsHuman, answered(1, "continue-session")])
      .when(answered(1, "fix"))
      .then([])
    given(needsHuman).when(answered(7, "fix")).then([])
  })

  it("does not offer continue again after a failed continue, but offers it when the agent needs a human again", () => {
    const continued = [...needsHuman, answered(1, "continue-session"), found(2)]
    assert.deepStrictEqual(names(given(continued).when(failed(2, 1, "gone"))), ["fix", "abort"])
    const again = { ...reports("needs_human"), turnId: answer(2, 2, "").turnId }
    assert.deepStrictEqual(names(given([...continued, answer(2, 1, "x")]).when(again)), [
      "continue-session",
      "fix",
      "abort"
    ])
  })

  it("to a permission request goes back into the running turn", () => {
    const asked = given(working).when(prompting)
    assert.deepStrictEqual(asked.types, ["AgentPrompting", "EscalationRequested"])
    assert.deepStrictEqual(names(asked), ["once", "always", "reject"])
    const outcome = given([...working, prompting]).when(answered(1, "once"))
    assert.deepStrictEqual(outcome.types, ["EscalationClosed", "AgentQuestionAnswered"])
    assert.deepInclude(outcome.work[0]?.work, { _tag: "SendReply", promptId: "p1", reply: "once" })
  })

  it("to a second permission request is asked for after the first", () => {
    const second: SessionInput = { ...prompting, promptId: "p2", text: "bash: rm" }
    assert.deepStrictEqual(given([...working, prompting]).when(second).types, ["AgentPrompting"])
    const outcome = given([...working, prompting, second]).when(answered(1, "once"))
    assert.deepStrictEqual(outcome.types, ["EscalationClosed", "AgentQuestionAnswered", "EscalationRequested"])
    assert.strictEqual(outcome.event("EscalationRequested").ask.reason, "bash: rm")
  })

  it("in free text answers a question of the agent", () => {
    const question: SessionInput = {
      _tag: "RecordAgentQuestion",
      promptId: "p1",
      kind: "question",
      text: "Which?",
      options: [
        { name: "Red", label: "Red" },
        { name: "other", label: "Something else, in words" }
      ]
    }
    const outcome = given([...working, question]).when(answered(1, "other", "Blue"))
    assert.deepInclude(outcome.event("AgentQuestionAnswered"), { reply: "Blue" })
  })

  it("is asked for again when somebody else withdraws the escalation", () => {
    const withdrawn: SessionInput = {
      _tag: "EscalationWithdrawn",
      escalationId: EscalationId.make(`${key}-e1`),
      runId: ownRun,
      sessionId,
      reason: "run-ended"
    }
    const outcome = given(needsHuman).when(withdrawn)
    assert.deepStrictEqual(outcome.types, ["EscalationClosed", "EscalationRequested"])
    assert.strictEqual(outcome.event("EscalationRequested").ask.escalationId, `${key}-e2`)
  })
})

describe("auto-resume of a standalone session", () => {
  it("withdraws the escalation when a human works with the agent, and asks for a report when the agent is idle again", () => {
    const outcome = given(needsHuman).when(human)
    assert.deepStrictEqual(outcome.types, ["ActivityNoted", "AgentWorking", "EscalationClosed"])
    assert.deepInclude(
      outcome.sent.find(({ _tag }) => _tag === "SendCommand"),
      { service: "gate" }
    )
    const idle = given([...needsHuman, human]).when({ _tag: "ReportIdle" })
    assert.deepStrictEqual(idle.types, ["ActivityNoted", "AgentIdle", "TurnRequested"])
    assert.match(idle.event("TurnRequested").turn.prompt, /are idle again/)
  })

  it("withdraws a permission request that was answered in the runtime itself", () => {
    const outcome = given([...working, prompting]).when({ _tag: "RecordAgentQuestionGone", promptId: "p1" })
    assert.deepStrictEqual(outcome.types, ["AgentQuestionClosed", "AgentWorking", "EscalationClosed"])
    assert.strictEqual(outcome.event("EscalationClosed").how, "agent-working")
  })

  it("withdraws a permission request that the runtime lost, and asks for a report", () => {
    const outcome = given([...needsHuman, human, prompting]).when({ _tag: "ReportIdle" })
    assert.deepStrictEqual(outcome.types, [
      "ActivityNoted",
      "AgentQuestionClosed",
      "AgentIdle",
      "EscalationClosed",
      "TurnRequested"
    ])
    assert.strictEqual(outcome.event("EscalationClosed").how, "superseded")
  })

  it("never follows from our own nudge", () => {
    const outcome = given(working).when(stopped(1, 1, "unfinished"))
    assert.notInclude(outcome.types, "AgentWorking")
  })
})

describe("the end of a standalone session", () => {
  it("withdraws its escalation", () => {
    const outcome = given(needsHuman).when({ _tag: "AbortSession", sessionId, reason: "stop" })
    assert.deepStrictEqual(outcome.types, ["SessionAborted", "EscalationClosed"])
    assert.strictEqual(outcome.event("EscalationClosed").how, "run-ended")
  })

  it("makes later answers ineffective", () => {
    given([...needsHuman, { _tag: "AbortSession", sessionId, reason: "stop" }])
      .when(answered(1, "continue-session"))
      .then([])
  })
})

describe("the session-manager's subscription", () => {
  const route = sessionActor().subscription?.route ?? assert.fail("it listens to nothing")
  const raised = { _tag: "EscalationWithdrawn", escalationId: EscalationId.make("e1"), reason: "run-ended" } as const

  it("is the answers to standalone sessions only", () => {
    assert.strictEqual(route({ ...raised, runId: RunId.make("s1"), sessionId: SessionId.make("s1") }), Key.make("s1"))
    assert.isUndefined(route({ ...raised, runId: RunId.make("r1"), sessionId: SessionId.make("r1-s1") }))
    assert.isUndefined(route({ ...raised, runId: RunId.make("r1") }))
  })
})
