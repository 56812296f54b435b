/** The wire as the page says it: subjects, envelope, and the ids that travel in them (docs/design/protocol.md). */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  addressing,
  addTokens,
  decodeMeta,
  encodeMeta,
  gateOutput,
  Host,
  isKey,
  isStandalone,
  type Key,
  type MessageMeta,
  makeRunId,
  phaseKey,
  RunId,
  reviewKey,
  sessionIdOf,
  subjects,
  versionProblem
} from "../src/index.ts"

const far = Host.make("far")

describe("subjects and streams", () => {
  const s = subjects("acme")

  it("are those of the protocol's page", () => {
    assert.deepStrictEqual(
      [
        s.command("gate", "e1"),
        s.commands("gate"),
        s.work("workspace", far, "r1"),
        s.works("workspace", far),
        s.event("gate", "r1", "EscalationRaised"),
        s.events(),
        s.events("gate", "*", "EscalationRaised"),
        s.journal("run", "r1"),
        s.timer("gate", "e1"),
        s.timers("gate"),
        s.dead("gate", "e1"),
        s.deads(),
        s.api("gate", "list")
      ],
      [
        "acme.command.gate.e1",
        "acme.command.gate.*",
        "acme.work.workspace.far.r1",
        "acme.work.workspace.far.*",
        "acme.event.gate.r1.EscalationRaised",
        "acme.event.*.*.*",
        "acme.event.gate.*.EscalationRaised",
        "acme.journal.run.r1",
        "acme.timer.gate.e1",
        "acme.timer.gate.*",
        "acme.dead.gate.e1",
        "acme.dead.*.*",
        "acme.api.gate.list"
      ]
    )
    assert.deepStrictEqual(Object.values(s.streams), [
      "ACME_COMMANDS",
      "ACME_WORK",
      "ACME_EVENTS",
      "ACME_JOURNAL",
      "ACME_TIMERS",
      "ACME_DEAD"
    ])
    assert.deepStrictEqual(Object.values(s.buckets), ["acme_snapshots", "acme_views", "acme_transcripts"])
  })

  it("of one actor alone name it, on whichever host its work is", () => {
    assert.deepStrictEqual(s.owned("gate", "e1"), {
      commands: "acme.command.gate.e1",
      work: "acme.work.gate.*.e1",
      timers: "acme.timer.gate.e1",
      journal: "acme.journal.escalation.e1"
    })
  })
})

describe("the envelope", () => {
  const meta: MessageMeta = {
    id: "m1",
    type: "RunPaused",
    source: "/gate/local",
    subject: "r1",
    time: "2026-01-01T00:00:00.000Z",
    traceparent: "00-a-b-01",
    causation: "m0"
  }

  it("is CloudEvents in headers, and is read as it was written", () => {
    const headers = encodeMeta(meta)
    assert.deepStrictEqual(headers, {
      "Nats-Msg-Id": "m1",
      "ce-specversion": "1.0",
      "ce-id": "m1",
      "ce-type": "dev.reprise.RunPaused.v1",
      "ce-source": "/gate/local",
      "ce-subject": "r1",
      "ce-time": "2026-01-01T00:00:00.000Z",
      "content-type": "application/json",
      traceparent: "00-a-b-01",
      "reprise-causation": "m0"
    })
    assert.deepStrictEqual(Result.getOrThrow(decodeMeta((name) => headers[name] ?? "")), meta)
    assert.isUndefined(versionProblem((name) => headers[name] ?? ""))
    assert.isUndefined(versionProblem(() => ""))
  })

  it.each([
    { id: "x".repeat(200), valid: true },
    { id: "x".repeat(201), valid: false },
    { id: "", valid: false },
    { id: "a b", valid: false }
  ])("takes an id of up to 200 visible characters ($id: $valid)", ({ id, valid }) => {
    const headers = { ...encodeMeta(meta), "ce-id": id }
    assert.strictEqual(Result.isSuccess(decodeMeta((name) => new Map(Object.entries(headers)).get(name) ?? "")), valid)
  })
})

describe("ids", () => {
  it("have up to 64 characters", () => {
    assert.deepStrictEqual([isKey("x".repeat(64)), isKey("x".repeat(65))], [true, false])
  })

  it("of new runs begin with the time of their start in seconds, and are short", () => {
    assert.strictEqual(makeRunId(36_000_999, "abcdefghijkl"), `r${(36_000).toString(36)}-abcdefgh`)
  })

  it("of a run's sessions hold the whole id of a run of 36 characters, and leave room behind a longer one", () => {
    const longest = RunId.make("r".repeat(36))
    assert.strictEqual(sessionIdOf(longest, 1), `${longest}-s1`)
    assert.match(sessionIdOf(RunId.make("r".repeat(37)), 1), /^r{27}-[0-9a-f]{8}-s1$/)
    assert.strictEqual(phaseKey("2.1.3"), "2_1_3")
    assert.strictEqual(reviewKey(RunId.make("r1"), "2.1"), "r1-p2_1")
  })

  it("tell a standalone session by its own id in place of a run's", () => {
    assert.isTrue(isStandalone({ runId: "s1", sessionId: "s1" }))
    assert.isTrue(isStandalone({ runId: "s1", evidence: { sessionId: "s1" } }))
    assert.isFalse(isStandalone({ runId: "r1", sessionId: "r1-s1", evidence: { sessionId: "r1" } }))
    assert.isFalse(isStandalone({ runId: "r1" }))
  })
})

describe("an addressed command", () => {
  it("gets the actor's id only where it has a field for it", () => {
    const commands = Schema.TaggedUnion({ With: { runId: Schema.String }, Without: { n: Schema.Int } })
    const make = addressing<Key>()({ service: "workspace", keyField: "runId", commands })("r1")
    assert.deepStrictEqual(make.With().command, { _tag: "With", runId: "r1" })
    assert.deepStrictEqual<unknown>(make.Without({ n: 1 }).command, { _tag: "Without", n: 1 })
  })
})

describe("sums and texts that messages share", () => {
  it("adds tokens kind by kind", () => {
    const one = { input: 1, output: 2, reasoning: 3, cacheRead: 4, cacheWrite: 5 }
    const many = { input: 10, output: 20, reasoning: 30, cacheRead: 40, cacheWrite: 50 }
    assert.deepStrictEqual(addTokens(one, many), {
      input: 11,
      output: 22,
      reasoning: 33,
      cacheRead: 44,
      cacheWrite: 55
    })
  })

  it("shows the output of a quality gate with nothing repeated, and a mark where something is left out", () => {
    const result = { command: "c", exitCode: 1, durationMs: 1, timedOut: false, logRef: "log" }
    assert.strictEqual(gateOutput({ ...result, head: "all", tail: "all" }), "all")
    assert.strictEqual(gateOutput({ ...result, head: "all", tail: "" }), "all")
    assert.strictEqual(gateOutput({ ...result, head: "abcd", tail: "cdef", overlap: 2 }), "abcdef")
    assert.strictEqual(gateOutput({ ...result, head: "ab", tail: "yz" }, "…"), "ab…yz")
  })
})
