import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  contracts,
  EscalationId,
  type FailureKind,
  outcomeOf,
  PublicEvent,
  passesByItself,
  ReviewKey,
  RunId,
  ServiceName,
  SessionId,
  to,
  vendorFailureOf
} from "../src/index.ts"

const escalationId = EscalationId.make("e1")
const runId = RunId.make("r1")

describe("a command with its address", () => {
  it("carries the service, the actor's id and the body, with the id filled in where the body has a field for it", () => {
    assert.deepStrictEqual<unknown>(to.gate(escalationId).WithdrawEscalation({ reason: "superseded" }), {
      service: "gate",
      key: "e1",
      command: { _tag: "WithdrawEscalation", escalationId: "e1", reason: "superseded" }
    })
    assert.deepStrictEqual<unknown>(to.orchestrator(runId).ResumeRun().command, { _tag: "ResumeRun", runId: "r1" })
    assert.deepStrictEqual<unknown>(
      to.reviewer(ReviewKey.make("r1-p2")).CloseReview({ runId, phase: "2", aborted: false, reason: "" }),
      {
        service: "reviewer",
        key: "r1-p2",
        command: { _tag: "CloseReview", runId: "r1", phase: "2", aborted: false, reason: "" }
      }
    )
  })

  it("exists for every command of every contract", () => {
    const { gate, orchestrator, reviewer, sessionManager, workspace } = to
    const builders = [
      orchestrator(runId),
      sessionManager(SessionId.make("s1")),
      reviewer(ReviewKey.make("r1-p1")),
      gate(escalationId)
    ]
    const made = [...builders, workspace(runId)].flatMap((commands) => Object.keys(commands))
    assert.deepStrictEqual(
      made,
      Object.values(contracts).flatMap(({ commands }) => Object.keys(commands.cases))
    )
  })

  it("does not compile with another service's command, an unknown field, a misspelt name or another kind of id", () => {
    // @ts-expect-error: a command of the workspace, sent to the gate
    assert.isUndefined(to.gate(escalationId).VerifyCommit)
    // @ts-expect-error: a misspelt command
    assert.isUndefined(to.sessionManager(SessionId.make("s1")).ReplyToPromt)
    // @ts-expect-error: a misspelt field
    assert.isObject(to.sessionManager(SessionId.make("s1")).ReplyToPrompt({ promtId: "p", reply: "once" }))
    // @ts-expect-error: a missing field
    assert.isObject(to.gate(escalationId).AnswerEscalation({ choice: "c", by: "me" }))
    // @ts-expect-error: the id of a run in place of an escalation's
    assert.isObject(to.gate(runId).WithdrawEscalation({ reason: "superseded" }))
  })
})

describe("contracts", () => {
  it("are one for each service, and their events together are the public events", () => {
    assert.deepStrictEqual(Object.keys(contracts), [...ServiceName.literals])
    const types = new Set(Object.values(contracts).flatMap(({ events }) => Object.keys(events.cases)))
    assert.deepStrictEqual([...types].sort(), Object.keys(PublicEvent.cases).sort())
  })

  it.each(Object.values(contracts))("of $service name outcomes among its own commands and events", (contract) => {
    for (const [command, outcome] of Object.entries(contract.outcomes)) {
      assert.property(contract.commands.cases, command)
      for (const event of outcome?.events ?? []) assert.property(contract.events.cases, event)
    }
    assert.strictEqual(new Set(contract.refusals).size, contract.refusals.length)
  })

  it("tell which event answers a command, and that some commands cannot be asked", () => {
    assert.deepStrictEqual(outcomeOf("gate", "AnswerEscalation"), {
      events: ["EscalationAnswered"],
      cause: "this-command"
    })
    assert.isUndefined(outcomeOf("workspace", "ReleaseWorkspace"))
  })
})

describe("failures", () => {
  it.each([
    { kind: "rate_limited", passes: true },
    { kind: "out_of_credits", passes: true },
    { kind: "no_internet", passes: true },
    { kind: "unauthorized", passes: false },
    { kind: "timeout", passes: false },
    { kind: "gone", passes: false }
  ] as const)("of kind $kind pass by themselves: $passes", ({ kind, passes }) => {
    assert.strictEqual(passesByItself(kind), passes)
  })

  it("of the runtime are told as the vendor's where they are, and as other where they are not", () => {
    assert.strictEqual(vendorFailureOf("rate_limited"), "rate_limited")
    assert.strictEqual(vendorFailureOf("session-missing"), "other")
    assert.strictEqual(vendorFailureOf("other"), "other")
  })

  it("do not compile where they are misspelt", () => {
    // @ts-expect-error: both are misspelt
    const kinds: ReadonlyArray<FailureKind> = ["rate-limited", "timout"]
    assert.lengthOf(kinds, 2)
  })
})

describe("a refusal", () => {
  it("is readable with and without a code", () => {
    const decode = Schema.decodeUnknownSync(PublicEvent)
    const refused = { _tag: "CommandRefused", runId: "r1", command: "PauseRun", reason: "It has ended." }
    assert.deepStrictEqual<unknown>(decode(refused), refused)
    assert.deepStrictEqual<unknown>(decode({ ...refused, code: "ended" }), { ...refused, code: "ended" })
  })
})
