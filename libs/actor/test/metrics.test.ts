import { assert, describe, it } from "@effect/vitest"
import { EscalationId, PhaseId, RunId, SessionId, TurnId } from "@reprise/protocol"
import { samplesOf } from "../src/metrics/eventMetrics.ts"
import { metrics, type Sample } from "../src/metrics/metrics.ts"
import { questionSamples, runSamples } from "../src/metrics/storedMetrics.ts"

const runId = RunId.make("r1")
const phase = PhaseId.make("1")
const inRun = { runId, phase }
const inSession = { ...inRun, sessionId: SessionId.make("r1-s1"), role: "author" as const }
const turn = { ...inSession, turnId: TurnId.make("r1-t1") }
const tokens = { input: 10, output: 2, reasoning: 0, cacheRead: 3, cacheWrite: 0 }
const used = { tokens, cost: 0.5, calls: 1 }
const took = { ...used, duration: 2_500, attempts: 1 }

/** `reprise_turns_total{role="author",outcome="completed"} 1`, without the prefix. */
const line = ({ labels, name, value }: Sample): string =>
  `${name.slice("reprise_".length)}{${Object.entries(labels).map(([label, of]) => `${label}=${of}`)}} ${value}`

const usage = [
  "tokens_total{role=author,kind=input} 10",
  "tokens_total{role=author,kind=output} 2",
  "tokens_total{role=author,kind=cacheRead} 3",
  "cost_dollars_total{role=author} 0.5"
]

describe("what an event adds to the metrics", () => {
  const cases: ReadonlyArray<readonly [Parameters<typeof samplesOf>[0], ReadonlyArray<string>]> = [
    [{ _tag: "RunStarted", runId, planPath: "PLAN.md", workspace: "/w", phases: [] }, ["runs_started_total{} 1"]],
    [{ _tag: "RunCompleted", runId }, ["runs_ended_total{outcome=completed} 1"]],
    [{ _tag: "RunFailed", runId, reason: "why" }, ["runs_ended_total{outcome=failed} 1"]],
    [{ _tag: "RunAborted", runId, reason: "why" }, ["runs_ended_total{outcome=aborted} 1"]],
    [{ _tag: "StepStarted", ...inRun, step: "REVIEW", attempt: 1 }, ["steps_total{step=REVIEW} 1"]],
    [
      { _tag: "EscalationWithdrawn", runId, escalationId: EscalationId.make("r1-e1"), reason: "agent-working" },
      ["questions_total{outcome=withdrawn} 1"]
    ],
    [
      { _tag: "SessionReused", ...inSession, runtimeSessionId: "x", reason: "follow-up" },
      ["sessions_total{use=reused} 1"]
    ],
    [
      { _tag: "TurnCompleted", ...turn, report: "verdict", ...took },
      ["turns_total{role=author,outcome=completed} 1", "turn_seconds{role=author} 2.5", ...usage]
    ],
    [
      {
        _tag: "TurnFailed",
        ...turn,
        kind: "rate_limited",
        message: "later",
        sessionUsable: true,
        ...took
      },
      ["turns_total{role=author,outcome=rate_limited} 1", "turn_seconds{role=author} 2.5", ...usage]
    ],
    [
      { _tag: "TurnCompleted", ...turn, report: "author-status", ...took, fixer: true },
      [
        "turns_total{role=fixer,outcome=completed} 1",
        "turn_seconds{role=fixer} 2.5",
        ...usage.map((text) => text.replace("role=author", "role=fixer"))
      ]
    ],
    [{ _tag: "UsageCounted", ...inSession, ...used }, usage],
    [{ _tag: "AgentIdle", ...inSession }, []]
  ]
  it.each(cases)("%o", (event, expected) => {
    const samples = samplesOf(event)
    assert.deepStrictEqual(samples.map(line), expected)
    for (const { labels, name } of samples)
      assert.deepStrictEqual(Object.keys(labels), Object.keys(metrics[name].labels))
  })
})

describe("what is stored", () => {
  it("is told by status, also where there is none, so that no number stays", () => {
    const samples = runSamples([{ status: "running" }, { status: "waiting" }, { status: "running" }])
    assert.deepStrictEqual(
      samples.map(({ value }) => value),
      [2, 1, 0, 0, 0, 0]
    )
  })

  it("counts the open questions, and measures the age of the oldest", () => {
    const at = (second: number) => new Date(second * 1_000).toISOString()
    const open = [20, 10].map((second) => ({ state: "open" as const, raisedAt: at(second) }))
    const closed = { state: "answered" as const, raisedAt: at(1) }
    assert.deepStrictEqual(
      questionSamples([...open, closed], 70_000).map(({ value }) => value),
      [2, 60]
    )
    assert.deepStrictEqual(
      questionSamples([closed], 70_000).map(({ value }) => value),
      [0, 0]
    )
  })
})
