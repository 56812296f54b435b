/** Each limit (docs/design/run-machine.md#the-run-machine-orchestrator): the question it raises or the end it makes, and what `reprise status` says of it. */
import { assert, describe, it } from "@effect/vitest"
import type { EscalationOrigin } from "@reprise/protocol"
import { runView } from "../../src/machine/view.ts"
import { summaryOf } from "../../src/phase/summary.ts"
import { item, onePhase, runId, withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const view = (s: Story) => runView(s.state) ?? assert.fail("there is no run")

const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const

/** The record of the phase is written and verified, and a fresh author begins. */
const handedOver = (s: Story) => s.stateWritten().tasksVerified()

const limits: ReadonlyArray<{
  readonly limit: string
  readonly met: () => Story
  readonly origin: EscalationOrigin
  readonly reason: RegExp
}> = [
  {
    limit: "maxReviewIterations",
    met: () =>
      story()
        .executing({ limits: { maxReviewIterations: 1 } })
        .worked("abc1")
        .verdict("not_ready", item("R1"))
        .worked("abc2"),
    origin: "limit",
    reason: /^Phase 1 was reviewed 1 times and not approved: its limit is 1\.$/
  },
  {
    limit: "two reviews without progress",
    met: () => {
      const s = story().executing().worked("abc1").verdict("not_ready", item("R1")).worked("abc2")
      return s.verdict("not_ready", item("R1")).worked("abc3").verdict("not_ready", item("R1"))
    },
    origin: "limit",
    reason: /^2 reviews in a row raised no fewer items/
  },
  {
    limit: "maxQualityRetries",
    met: () =>
      story()
        .executing({ ...withGates, limits: { maxQualityRetries: 0 } })
        .worked("abc1")
        .gates(false),
    origin: "quality",
    reason: /^Quality gates still fail after 0 of 0 retries: 'npm test'\.$/
  },
  {
    limit: "maxStepVisits",
    met: () =>
      story()
        .executing({ limits: { maxStepVisits: 1 } })
        .needsHuman()
        .answer("fix"),
    origin: "limit",
    reason: /^EXECUTE was entered 1 times in this phase: its limit is 1\.$/
  },
  {
    limit: "maxStepsPerRun",
    met: () =>
      story()
        .executing({ limits: { maxStepsPerRun: 1 } })
        .worked("abc1"),
    origin: "limit",
    reason: /^The run has entered 1 steps: its limit is 1\.$/
  },
  {
    limit: "tokenBudget",
    met: () =>
      story()
        .executing({ limits: { tokenBudget: 100 } })
        .worked("abc1"),
    origin: "limit",
    reason: /^The run has used 110 tokens: its budget is 100\.$/
  },
  {
    limit: "costBudget",
    met: () =>
      story()
        .executing({ limits: { costBudget: 0.5 } })
        .worked("abc1"),
    origin: "limit",
    reason: /^The run has cost \$0\.50: its budget is \$0\.5\.$/
  },
  {
    limit: "maxContinuations",
    met: () => {
      const s = story().executing({ limits: { maxContinuations: 1 } }, onePhase)
      handedOver(s.reports({ result: "checkpoint", checkpoint }).stateWritten().answer("pass"))
      return s.reports({ result: "checkpoint", checkpoint }).stateWritten().answer("pass")
    },
    origin: "limit",
    reason: /^Phase 1 was handed to a fresh author 1 times: its limit is 1\.$/
  },
  {
    limit: "turnInactivityMs and turnWallMs",
    met: () => story().executing().turnFails("timeout"),
    origin: "runtime",
    reason: /^The author's turn failed \(timeout\): it was timeout$/
  },
  {
    limit: "the runtime's own limit of a turn",
    met: () => story().executing().turnFails("turn-limit", true),
    origin: "runtime",
    reason: /^The author's turn failed \(turn-limit\)/
  }
]

describe("a limit", () => {
  for (const { limit, met, origin, reason } of limits) {
    it(`${limit} raises a question whose reason status shows while it is open and keeps in its notices`, () => {
      const s = met()
      assert.strictEqual(s.question.ask.origin, origin)
      assert.match(s.question.ask.reason, reason)
      const open = view(s)
      assert.deepStrictEqual([open.status, open.escalationId], ["waiting", s.question.ask.escalationId])
      assert.match(open.reason ?? "", reason)
      const later = view(s.answer("override"))
      assert.isUndefined(later.reason)
      assert.isTrue(
        later.notices.some((notice) => reason.test(notice)),
        later.notices.join("\n")
      )
    })
  }

  it("maxAutoRetries aborts the run, and status lists the reasons", () => {
    const s = story().executing({ auto: true, limits: { maxAutoRetries: 1 } })
    const ended = view(s.needsHuman("Which?").needsHuman("I still ask"))
    assert.strictEqual(ended.status, "aborted")
    assert.strictEqual(ended.reason, "Auto mode gave up after 1 retries: 1. Which? 2. I still ask")
    assert.deepStrictEqual(ended.notices, ["Auto mode tries again: Which?"])
  })

  it("a refused permission costs no retry, and stands in the reason of an abort and in status", () => {
    const s = story().executing({ auto: true, limits: { maxAutoRetries: 1 } })
    s.agentPrompts("p1").permissionRefused("bash: npm publish").permissionRefused("bash: npm publish")
    assert.strictEqual(view(s).status, "running")
    assert.deepStrictEqual(view(s).refusals, [
      { phase: "1", role: "author", text: "bash: npm publish", unattended: true, times: 2 }
    ])
    s.needsHuman("Which?").permissionRefused("webfetch: https://example.org", "reviewer")
    const ended = view(s.needsHuman("I still ask"))
    assert.strictEqual(
      ended.reason,
      "Auto mode gave up after 1 retries: 1. Which? 2. I still ask (refused permissions: 'bash: npm publish' ×2, 'webfetch: https://example.org')"
    )
  })

  it("keeps of a refusal in no phase only what was told", () => {
    const s = story().executing()
    const { author: sessionId } = s
    const wish = { role: "author", text: "bash: git push", unattended: true } as const
    s.tell({ _tag: "PermissionRefused", runId, sessionId, promptId: "p1", ...wish })
    assert.deepStrictEqual(s.journal.slice(-1), [{ _tag: "RefusalSeen", ...wish }])
  })

  it("what a rule refused costs no retry, counts beside the same wish that nobody could grant, and stands in SUMMARY", () => {
    const rule = "permissions.deny.commands: git push *"
    const s = story().executing({ auto: true, limits: { maxAutoRetries: 1 } })
    s.permissionRefused("bash: git push", "author", rule)
    s.permissionRefused("bash: git push").permissionRefused("bash: git push", "author", rule)
    assert.strictEqual(view(s).status, "running")
    const wish = { phase: "1", role: "author", text: "bash: git push", unattended: true } as const
    assert.deepStrictEqual(view(s).refusals, [
      { ...wish, rule, times: 2 },
      { ...wish, times: 1 }
    ])
    const ended = view(s.needsHuman("Which?").needsHuman("I still ask"))
    assert.include(ended.reason, "(refused permissions: 'bash: git push' ×2, 'bash: git push')")
    assert.deepStrictEqual(
      summaryOf(s.run).refusals.map(({ times }) => times),
      [2, 1]
    )
  })

  it("what the sandbox refused to author, reviewer and quality gates is counted beside permissions, and stands in SUMMARY", () => {
    const s = story().executing({ auto: true, limits: { maxAutoRetries: 0 } })
    s.sandboxRefused("write: /etc/hosts", "write").sandboxRefused("write: /etc/hosts", "write")
    s.sandboxRefused("network: example.org", "network", "reviewer").permissionRefused("bash: git push")
    const { refusals } = view(s)
    assert.deepStrictEqual(refusals, [
      { phase: "1", role: "author", text: "write: /etc/hosts", unattended: true, sandbox: "write", times: 2 },
      { phase: "1", role: "reviewer", text: "network: example.org", unattended: true, sandbox: "network", times: 1 },
      { phase: "1", role: "author", text: "bash: git push", unattended: true, times: 1 }
    ])
    const reason = view(s.needsHuman("Which?")).reason
    assert.include(
      reason,
      "(refused permissions: 'bash: git push'; refused by the sandbox: 'write: /etc/hosts' ×2, 'network: example.org')"
    )
    assert.deepStrictEqual(
      summaryOf(s.run).refusals.map(({ sandbox, times }) => [sandbox, times]),
      [
        ["write", 2],
        ["network", 1],
        [undefined, 1]
      ]
    )
  })

  it("names no more than ten refused permissions in the reason of an abort", () => {
    const s = story().executing({ auto: true, limits: { maxAutoRetries: 0 } })
    for (let n = 0; n < 12; n++) s.permissionRefused(`bash: ${n}`)
    const { reason = "" } = view(s.needsHuman("Which?"))
    assert.match(reason, /'bash: 9' and 2 more\)$/)
    assert.notInclude(reason, "bash: 10")
  })

  for (const { limit, met } of limits) {
    it(`${limit} is never granted twice by one answer`, () => {
      const s = met()
      const before = s.question.ask.escalationId
      s.answer("fix")
      assert.notStrictEqual(view(s).escalationId, before)
    })
  }
})
