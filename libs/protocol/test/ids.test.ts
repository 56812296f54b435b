import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  escalationIdOf,
  idsAround,
  isKey,
  keyOfSubject,
  PhaseId,
  RunId,
  reviewerSessionIdOf,
  reviewerTurnIdOf,
  reviewKey,
  runOfSubject,
  sessionIdOf,
  subjects,
  turnIdOf
} from "../src/index.ts"

it.each([
  ["orchestrator", { runId: "r1" }],
  ["session-manager", { runId: "r1", sessionId: "key" }],
  ["reviewer", { runId: "r1" }],
  ["gate", { runId: "r1", escalationId: "key" }],
  ["workspace", { runId: "r1" }]
] as const)("the subject and envelope of a command to the %s say %j", (service, ids) => {
  const key = service === "session-manager" || service === "gate" ? "key" : "r1"
  assert.deepStrictEqual(idsAround(service, key, "r1"), ids)
})

const hostile = [
  "",
  "a.b",
  "*",
  ">",
  "a b",
  " a",
  "a\n",
  "a\r\nPUB x 0",
  "a\u0000",
  "ä",
  "../a",
  "a/b",
  "$SRV",
  "x".repeat(65),
  "x".repeat(5_000)
]

describe("an id that may not stand in a subject", () => {
  it.each(hostile.map((id) => ({ id, shown: JSON.stringify(id.slice(0, 20)) })))("$shown is refused", ({ id }) => {
    assert.throws(() => Schema.decodeUnknownSync(RunId)(id), /letters, digits/)
    const { command, event, journal, work } = subjects("reprise")
    assert.throws(() => command("gate", id), /cannot be part of a subject/)
    assert.throws(() => event("gate", id, "EscalationRaised"), /cannot be part of a subject/)
    assert.throws(() => journal("run", id), /cannot be part of a subject/)
    assert.throws(() => work("workspace", Schema.decodeUnknownSync(Schema.Any)(id), "a"), /cannot be part of a subject/)
    assert.throws(() => subjects(id), /cannot be part of a subject/)
  })

  it("is not taken from a subject", () => {
    assert.strictEqual(keyOfSubject("reprise.command.gate.r1-e1"), "r1-e1")
    assert.strictEqual(runOfSubject("reprise.event.gate.r1.EscalationRaised"), "r1")
    for (const id of hostile.filter((one) => !one.includes("."))) {
      assert.isUndefined(keyOfSubject(`reprise.command.gate.${id}`))
    }
  })
})

describe("the ids of a run's sessions, turns and questions", () => {
  const phase = Schema.decodeUnknownSync(PhaseId)("9999.9999.9999.9999")
  const all = (text: string) => {
    const run = RunId.make(text)
    return [
      sessionIdOf(run, 99_999),
      turnIdOf(run, 99_999),
      escalationIdOf(run, 99_999),
      reviewerSessionIdOf(run, phase, 999),
      reviewerTurnIdOf(run, phase, 999)
    ]
  }

  it("begin with the run's id", () => {
    assert.deepStrictEqual(all("r1")[0], "r1-s99999")
    assert.isTrue(reviewerTurnIdOf(RunId.make("r1"), "2.1", 3).startsWith(`${reviewKey(RunId.make("r1"), "2.1")}-`))
  })

  it("are ids themselves however long the run's is, and those of no other run", () => {
    const long = "r".repeat(63)
    const ids = [`${long}1`, `${long}2`, long, "r".repeat(37), "r".repeat(36)].flatMap(all)
    for (const id of ids) assert.isTrue(isKey(id), id)
    assert.strictEqual(new Set(ids).size, ids.length)
  })
})
