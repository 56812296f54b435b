import { assert, describe, it } from "@effect/vitest"
import type { SessionInput } from "../src/session/inputs.ts"
import type { ActionSettings } from "../src/settings.ts"
import { at, failed, firstTurn, givenWith, sessionId, stopped, t } from "./support/story.ts"

const working = firstTurn.slice(0, 2)
const noOutput = { toolCalls: 0, tokens: { input: 1, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 } }

/** An input for each trigger. */
const triggers = {
  idle: stopped(1, 1, "unfinished"),
  gone: failed(1, 1, "gone"),
  "error unauthorized": failed(1, 1, "unauthorized"),
  "error rate_limited": failed(1, 1, "rate_limited"),
  "error other": failed(1, 1, "other"),
  permission: {
    _tag: "RecordAgentQuestion",
    promptId: "p1",
    kind: "permission",
    text: "bash: ls",
    options: ["once", "always", "reject"].map((name) => ({ name, label: name }))
  },
  question: {
    _tag: "RecordAgentQuestion",
    promptId: "p2",
    kind: "question",
    text: "Which?",
    options: [{ name: "Red", label: "Red" }]
  }
} as const satisfies Record<string, SessionInput>

/** The same action for every kind of failure. */
const errors = (action: "wait" | "continue" | "escalate" | "fail"): ActionSettings["onError"] => {
  const one = [action]
  return { rate_limited: one, out_of_credits: one, no_internet: one, unauthorized: one, other: one }
}

const retried = ["ActionCounted", "ActionTaken", "PromptRetried"]

describe("the configured action of a trigger", () => {
  it.each<readonly [keyof typeof triggers, Partial<ActionSettings>, ReadonlyArray<string>]>([
    ["idle", { onIdle: ["nudge"] }, ["PromptEnded", "ActionCounted", "ActionTaken", "PromptPrepared"]],
    ["idle", { onIdle: ["report"] }, ["PromptEnded", "ActionCounted", "ActionTaken", "PromptPrepared"]],
    ["idle", { onIdle: ["escalate"] }, ["PromptEnded", "TurnFailed"]],
    ["idle", { onIdle: ["fail"] }, ["PromptEnded", "TurnFailed", "SessionFailed"]],
    ["gone", { onGone: ["continue"] }, ["AgentGone", ...retried]],
    ["gone", { onGone: ["escalate"] }, ["PromptEnded", "AgentGone", "TurnFailed"]],
    ["gone", { onGone: ["fail"] }, ["PromptEnded", "AgentGone", "TurnFailed", "SessionFailed"]],
    ["permission", { onPrompt: ["escalate"] }, ["AgentPrompting"]],
    ["permission", { onPrompt: ["approve"] }, ["ActionCounted", "ActionTaken", "AgentQuestionDecided"]],
    [
      "permission",
      { onPrompt: ["reject"] },
      ["ActionCounted", "ActionTaken", "AgentQuestionDecided", "PermissionRefused"]
    ],
    ["question", { onPrompt: ["approve"] }, ["AgentPrompting"]],
    ["question", { onPrompt: ["reject"] }, ["ActionCounted", "ActionTaken", "AgentQuestionDecided"]],
    ["error unauthorized", { onError: errors("wait") }, ["AgentFailed", "TurnWaiting"]],
    ["error unauthorized", { onError: errors("continue") }, ["AgentFailed", ...retried]],
    ["error unauthorized", { onError: errors("escalate") }, ["PromptEnded", "AgentFailed", "TurnFailed"]],
    ["error unauthorized", { onError: errors("fail") }, ["PromptEnded", "AgentFailed", "TurnFailed", "SessionFailed"]],
    ["error rate_limited", { onError: errors("continue") }, ["AgentFailed", ...retried]],
    ["error rate_limited", { onError: errors("fail") }, ["PromptEnded", "AgentFailed", "TurnFailed", "SessionFailed"]],
    ["error other", { onError: errors("continue") }, ["AgentFailed", ...retried]]
  ])("for %s with %j records %j", (trigger, actions, types) => {
    assert.deepStrictEqual(givenWith({ actions })(working).when(triggers[trigger]).types, types)
  })

  it("nudges the same session to continue, or asks it for its report", () => {
    const nudged = givenWith({ actions: { onIdle: ["nudge"] } })(working).when(triggers.idle)
    assert.deepInclude(nudged.event("PromptPrepared"), { kind: "continuation" })
    assert.deepInclude(nudged.event("ActionTaken"), { trigger: "idle", action: "nudge", attempt: 1, turnId: t(1) })
    const asked = givenWith({ actions: { onIdle: ["report"] } })(working).when(triggers.idle)
    assert.deepInclude(asked.event("PromptPrepared"), { kind: "report" })
  })

  it("delays a nudge with a cooldown by a timer, without counting a second attempt of the prompt", () => {
    const actions = { onIdle: [{ action: "nudge", attempts: 2, cooldownMs: 90_000 } as const] }
    const history = [...working, stopped(1, 1, "unfinished", noOutput)]
    const second = givenWith({ actions })(history).when(stopped(1, 2, "unfinished", noOutput))
    assert.deepStrictEqual(second.work, [])
    assert.deepStrictEqual(second.timers, [
      { _tag: "SetTimer", dueAt: at(92), command: { _tag: "RetryPrompt", turnId: t(1), number: 3, wait: 0 } }
    ])
    const sent = givenWith({ actions })([...history, stopped(1, 2, "unfinished", noOutput)]).when({
      _tag: "RetryPrompt",
      turnId: t(1),
      number: 3
    })
    assert.deepInclude(sent.event("PromptRetried"), { first: true })
    assert.deepInclude(sent.work[0]?.work, { _tag: "RunPrompt", number: 3 })
  })

  it("replies to the agent in place of a human, and publishes that it did", () => {
    const outcome = givenWith({ actions: { onPrompt: ["approve"] } })(working).when(triggers.permission)
    assert.deepInclude(outcome.event("ActionTaken"), { action: "approve", about: "permission: bash: ls" })
    assert.deepInclude(outcome.work[0]?.work, { _tag: "SendReply", promptId: "p1", reply: "once" })
  })

  it("counts attempts by the kind of failure, so that a varying text cannot continue forever", () => {
    const actions = { onError: errors("continue") }
    const again = givenWith({ actions })([...working, { ...triggers["error other"], message: "first" }]).when({
      ...triggers["error other"],
      message: "second"
    })
    assert.deepStrictEqual(again.types, ["PromptEnded", "TurnFailed"])
  })

  it("starts counting from zero with the next turn", () => {
    const actions = { onGone: ["continue"] as const }
    const history = [...working, triggers.gone, ...firstTurn.slice(2)]
    assert.deepStrictEqual(givenWith({ actions })(history).state.tried["gone"]?.counts, [1])
    const next: SessionInput = { _tag: "ContinueSession", turnId: t(2), sessionId, onMissing: "fail" }
    assert.deepStrictEqual(givenWith({ actions })([...history, next]).state.tried, {})
  })
})
