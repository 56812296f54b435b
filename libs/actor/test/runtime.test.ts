import { assert, describe, it } from "@effect/vitest"
import { Key, type MessageMeta, RunId, type ServiceName } from "@reprise/protocol"
import { Cause, Deferred, Effect, Exit, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { BrokerFull } from "../src/broker/faults.ts"
import { publish, setTimer } from "../src/index.ts"
import { retryBrokerTrouble } from "../src/runtime/brokerRetry.ts"
import { makeKeyedQueues } from "../src/runtime/KeyedQueues.ts"
import { makeReceipts } from "../src/runtime/Receipts.ts"
import { refusalEvent, refusalIdOf } from "../src/runtime/refusals.ts"
import { logIds, parentSpan, traceparentOf } from "../src/runtime/telemetry.ts"
import { given } from "../src/testing.ts"
import { counter } from "./support/Counter.ts"

describe("receipts", () => {
  it("forget the oldest when there are too many", () => {
    const receipts = makeReceipts(2, [["a", 1]])
    receipts.add("b", 2)
    receipts.add("a", 3)
    receipts.add("c", 4)
    assert.deepStrictEqual(
      [receipts.sequenceOf("a"), receipts.sequenceOf("b"), receipts.sequenceOf("c")],
      [3, undefined, 4]
    )
    assert.deepStrictEqual(receipts.all(), [
      ["a", 3],
      ["c", 4]
    ])
  })
})

describe("queues", () => {
  it.effect("run the jobs of a key in order, one at a time, and those of other keys meanwhile", () =>
    Effect.gen(function* () {
      const queues = yield* makeKeyedQueues()
      const seen: Array<string> = []
      const open = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      queues.push(
        "a",
        Effect.andThen(
          Deferred.await(open),
          Effect.sync(() => seen.push("a1"))
        )
      )
      queues.push("a", Effect.sync(() => seen.push("a2")).pipe(Effect.andThen(Deferred.succeed(done, undefined))))
      queues.push(
        "b",
        Effect.sync(() => seen.push("b1"))
      )
      assert.deepStrictEqual(seen, ["b1"])
      yield* Deferred.succeed(open, undefined)
      yield* Deferred.await(done)
      assert.deepStrictEqual(seen, ["b1", "a1", "a2"])
    })
  )
})

describe("waiting for the broker", () => {
  const full = new BrokerFull({ operation: "append", reason: "maximum bytes exceeded" })

  it.effect("waits out a broker that is full, for hours, with a handful of lines in the log", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const linesAfter: Array<number> = []
      let tries = 0
      const work = Effect.suspend(() => {
        linesAfter.push(lines.length)
        tries += 1
        return tries < 3_000 ? Effect.fail(full) : Effect.succeed(tries)
      })
      const logger = Logger.layer([Logger.make(({ message }) => lines.push(message))])
      const fiber = yield* Effect.forkChild(retryBrokerTrouble(work).pipe(Effect.provide(logger)))
      yield* TestClock.adjust("6 hours")
      const exit = yield* Effect.sync(() => fiber.pollUnsafe())
      assert.deepStrictEqual(exit, Exit.succeed(3_000))
      assert.isBelow(lines.length, 15)
      assert.match(String(lines[0]), /its space is used up/)
      assert.deepStrictEqual(linesAfter.slice(0, 6), [0, 1, 2, 2, 3, 3], "failures 1, 2 and 4 are told")
    })
  )

  it.effect("rethrows errors that the broker did not cause", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(retryBrokerTrouble(Effect.fail({ _tag: "Other" as const })))
      assert.deepStrictEqual(Option.getOrUndefined(Exit.getCause(exit).pipe(Option.flatMap(Cause.findErrorOption))), {
        _tag: "Other"
      })
    })
  )
})

describe("traces", () => {
  it("go on where the sender left them, and wrong ones are ignored", () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`
    assert.strictEqual(Option.match(parentSpan(traceparent), { onNone: () => "", onSome: traceparentOf }), traceparent)
    for (const wrong of [undefined, "", "00-xyz-1-01", `${traceparent}0`])
      assert.isTrue(Option.isNone(parentSpan(wrong)))
  })
})

describe("refusals", () => {
  it("name the turn, session and question of the command that was refused, and nothing that is not an id", () => {
    const place = { turnId: "t1", sessionId: "s1", phase: "2" }
    const refused = { _tag: "CommandRefused", runId: "r1", command: "StartTurn", reason: "busy" }
    const command = { _tag: "StartTurn", runId: "other", reason: "mine", ...place }
    assert.deepStrictEqual<unknown>(refusalEvent("r1", command, { code: "busy", reason: "busy" }), {
      ...refused,
      code: "busy",
      ...place
    })
    assert.deepStrictEqual<unknown>(
      refusalEvent("r1", { ...command, ...{ turnId: "t.1" } }, { code: "busy", reason: "busy" }),
      { ...refused, code: "busy" }
    )
    const answer = { _tag: "AnswerEscalation", escalationId: "e1" }
    assert.deepInclude<object>(refusalEvent("r1", answer, { code: "closed", reason: "late" }), {
      escalationId: "e1",
      command: "AnswerEscalation"
    })
  })

  it("have ids that fit, however long the command's id is", () => {
    assert.strictEqual(refusalIdOf("c1"), "c1.refused")
    assert.isAtMost(refusalIdOf("c".repeat(200)).length, 200)
  })
})

describe("given, when, then", () => {
  const delivery = { id: "c1", key: Key.make("a"), now: "2026-01-02T03:04:05.000Z" }
  const added = (n: number) => ({ _tag: "Added", n, by: "c1", at: delivery.now }) as const

  it("shows what an actor decides and sends", () => {
    const step = given(counter)([added(1), added(2)]).when({ _tag: "Add", n: 4 }, delivery)
    step.then([added(4)])
    assert.strictEqual(step.state.total, 7)
    const event = { _tag: "StepStarted", runId: RunId.make("a"), step: "EXECUTE", attempt: 7 } as const
    step.sends([publish(event)])
    assert.deepStrictEqual(step.published, [event])
    const later = { _tag: "AddLater", n: 1, dueAt: "2027-01-01T00:00:00.000Z" } as const
    given(counter)([])
      .when(later)
      .sends([setTimer(later.dueAt, { _tag: "Add", n: 1 })])
  })

  it("shows what an actor refuses, and says when it does not", () => {
    given(counter)([]).when({ _tag: "Forbidden" }).refused("It is forbidden.")
    given(counter)([])
      .when({ _tag: "Forbidden" })
      .refused(/forbidden/)
    assert.throws(() => given(counter)([]).when({ _tag: "Add", n: 1 }).refused("It is forbidden."), /Accepted/)
    assert.throws(() =>
      given(counter)([])
        .when({ _tag: "Add", n: 1 }, delivery)
        .then([added(2)])
    )
  })
})

const meta: MessageMeta = { id: "m1", type: "X", source: "/x/y", subject: "r1", time: "2026-01-01T00:00:00.000Z" }

const cases: ReadonlyArray<readonly [string, ServiceName, object, Record<string, string>]> = [
  ["an abort of a run", "orchestrator", { _tag: "AbortRun", reason: "x" }, { runId: "r1" }],
  [
    "a turn",
    "session-manager",
    { _tag: "StartTurn", runId: "r1", phase: "2", step: "EXECUTE", turnId: "r1-t1", prompt: "secret words" },
    { runId: "r1", sessionId: "r1", phase: "2", step: "EXECUTE", turnId: "r1-t1" }
  ],
  [
    "an event of a session",
    "orchestrator",
    { _tag: "TurnCompleted", runId: "r1", sessionId: "r1-s1", turnId: "r1-t1" },
    { runId: "r1", sessionId: "r1-s1", turnId: "r1-t1" }
  ],
  ["what a workspace is to do", "workspace", { command: { phase: "2", commit: "abc" } }, { runId: "r1", phase: "2" }],
  ["what it found", "workspace", { event: { phase: "2", dirty: ["a"] } }, { runId: "r1", phase: "2" }],
  ["no object where a command is", "workspace", { command: "go", phase: "2" }, { runId: "r1", phase: "2" }],
  ["a question of another run", "gate", { runId: "r2", escalationId: "r2-e1" }, { runId: "r2", escalationId: "r2-e1" }],
  ["something else under these names", "gate", { phase: 2, turnId: null }, { runId: "r1", escalationId: "r1" }]
]

describe("a line in the logs", () => {
  it.each(cases)("of %s to the %s has its ids, and nothing that was said", (_name, service, message, expected) => {
    assert.deepStrictEqual(logIds(service, "r1", meta, message), expected)
  })
})
