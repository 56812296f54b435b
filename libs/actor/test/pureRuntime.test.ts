/** The pure parts of the runtime, case by case: what is journalled, what is sent, and what is kept of a host and a view. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, EscalationId, Key, type MessageMeta, RunId, subjects, to } from "@reprise/protocol"
import { Effect, Result, Schema } from "effect"
import { Broker, Sequence } from "../src/broker/Broker.ts"
import { publish, Refusal, requestWork, send, setTimer } from "../src/index.ts"
import { readSnapshot } from "../src/runtime/ActorMemory.ts"
import { readClaim, takenOver, withDrained } from "../src/runtime/claimHost.ts"
import { decideInput } from "../src/runtime/decideInput.ts"
import { journalled, messagesOf, type Sender } from "../src/runtime/outbox.ts"
import { makeReceipts } from "../src/runtime/Receipts.ts"
import { type ReadSubjects, readSubject } from "../src/runtime/readSubjects.ts"
import { refusalIdOf, refusalSubjects } from "../src/runtime/refusals.ts"
import { continuing, parentSpan, traceparentOf } from "../src/runtime/telemetry.ts"
import { makeViewMark, readView } from "../src/runtime/views.ts"
import { CounterEvent, type CounterInput, counter } from "./support/Counter.ts"
import { memoryWorld } from "./support/systems.ts"

const key = Key.make("a")
const s = subjects("t")
const sender: Sender = { service: "gate", key, source: "/gate/h1", subjects: s }
const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`
const now = "2026-01-02T03:04:05.000Z"
const meta: MessageMeta = { id: "m1", type: "Add", source: "/x/y", subject: "r1", time: now }
const runId = RunId.make("r7")
const started = { _tag: "StepStarted", runId, step: "EXECUTE", attempt: 2 } as const

describe("what an actor sends", () => {
  const reason = "the run goes on"
  it.each([
    [
      "a command of another service",
      send(to.gate(EscalationId.make("e1")).WithdrawEscalation({ reason: "run-ended" })),
      {
        subject: s.command("gate", "e1"),
        type: "WithdrawEscalation",
        payload: { escalationId: "e1", reason: "run-ended" }
      }
    ],
    [
      "an event, under the run of the actor",
      publish(started),
      {
        subject: s.event("gate", "r1", "StepStarted"),
        type: "StepStarted",
        payload: { runId, step: "EXECUTE", attempt: 2 }
      }
    ],
    [
      "work, without its type",
      requestWork(anyHost, { _tag: "Dig", name: reason }),
      { subject: s.work("gate", anyHost, key), type: "Dig", payload: { name: reason } }
    ],
    [
      "a timer with its time",
      setTimer(now, { _tag: "Add", n: 3 }),
      { subject: s.timer("gate", key), type: "Add", payload: { n: 3 }, dueAt: now }
    ]
  ] as const)("is journalled complete: %s", (_, outgoing, expected) => {
    assert.deepStrictEqual<unknown>(journalled(sender, "r1", outgoing), expected)
  })

  it("goes under the event's own run where the actor knows none", () => {
    assert.strictEqual(journalled(sender, undefined, publish(started)).subject, s.event("gate", runId, "StepStarted"))
  })

  it("has ids that derive from the place in the journal, and an envelope from the entry", () => {
    const entry = {
      ...{ input: { id: "m1", type: "Add" }, at: now, run: "r1", traceparent, events: [] },
      outgoing: [
        { subject: "x", type: "X", payload: { n: 1 } },
        { subject: "y", type: "Y", payload: {}, dueAt: now }
      ]
    }
    const envelope = { source: "/gate/h1", subject: "r1", time: now, traceparent, causation: "m1" }
    assert.deepStrictEqual<unknown>(messagesOf(sender, { entry, sequence: Sequence(7) }), [
      { subject: "x", body: '{"n":1}', meta: { id: "escalation.a.7.0", type: "X", ...envelope } },
      { subject: "y", body: "{}", meta: { id: "escalation.a.7.1", type: "Y", ...envelope }, dueAt: now }
    ])
  })
})

describe("one decision", () => {
  const encode = Schema.encodeSync(CounterEvent)
  const decided = (input: CounterInput, runOf: string | undefined = undefined) =>
    decideInput({ ...counter, runOf: () => runOf }, encode, sender, {
      ...{ state: counter.initial, input, meta, traceparent },
      delivery: { id: "m1", key, now }
    })

  it("is an entry with its input, its events, and all that it sends", () => {
    const event = { _tag: "Added", n: 4, by: "m1", at: now }
    const published = { _tag: "StepStarted", runId: "a", step: "EXECUTE", attempt: 4 }
    const { _tag, ...payload } = published
    const result = decided({ _tag: "Add", n: 4 }, "r9")
    assert.deepStrictEqual<unknown>(
      result,
      Result.succeed({
        _tag: "Decided",
        state: { ...counter.initial, total: 4, steps: 1 },
        types: ["Added"],
        published: [published],
        entry: {
          ...{ input: { id: "m1", type: "Add" }, at: now, run: "r9", traceparent, events: [event] },
          outgoing: [{ subject: s.event("gate", "r9", "StepStarted"), type: "StepStarted", payload }]
        }
      })
    )
  })

  it("belongs to the run of its input while the actor knows none", () => {
    const result = decided({ _tag: "AskForWork", name: "x" })
    assert.containSubset(result, { success: { entry: { run: "r1" } } })
    assert.deepStrictEqual("success" in result && "published" in result.success && result.success.published, [])
  })

  it("may be a refusal, or nothing", () => {
    const refusal = new Refusal({ code: "closed", reason: "It is forbidden." })
    assert.deepStrictEqual<unknown>(decided({ _tag: "Forbidden" }), Result.succeed({ _tag: "Refused", refusal }))
    assert.deepStrictEqual<unknown>(decided({ _tag: "Ignored" }), Result.succeed({ _tag: "Nothing" }))
  })

  it.each([
    ["decide", { _tag: "Explode" }],
    ["react", { _tag: "ExplodeLater" }]
  ] as const)("can never be made when %s throws, and says of whom and of what", (where, input) => {
    const failure = Result.getOrThrow(Result.flip(decided(input)))
    assert.include(failure.message, "gate, Add")
    assert.include(failure.message, `${where} exploded`)
  })
})

describe("the claim of a host's name", () => {
  const drained = { instance: "i1", drainedAt: now }

  it("is read from what is stored, and nothing from anything else", () => {
    assert.deepStrictEqual<unknown>(readClaim(JSON.stringify(drained)), drained)
    for (const stored of [undefined, "", "{}", "null"]) assert.isUndefined(readClaim(stored))
  })

  it("is taken over as drained as it was", () => {
    assert.deepStrictEqual<unknown>(takenOver(undefined, "i2"), { instance: "i2" })
    assert.deepStrictEqual<unknown>(takenOver({ instance: "i1" }, "i2"), { instance: "i2" })
    assert.deepStrictEqual<unknown>(takenOver(drained, "i2"), { instance: "i2", drainedAt: now })
  })

  it("keeps the first time of being drained, and loses it when the host takes work again", () => {
    const later = "2026-01-03T00:00:00.000Z"
    const free = { instance: "i1" }
    assert.deepStrictEqual<unknown>(withDrained(free, true, now), drained)
    assert.strictEqual<unknown>(withDrained(drained, true, later), drained)
    assert.deepStrictEqual<unknown>(withDrained(drained, false, later), free)
    assert.strictEqual<unknown>(withDrained(free, false, later), free)
  })
})

describe("what is stored of an actor", () => {
  const snapshot = { version: 3, sequence: 5, state: { n: 1 }, receipts: [["m1", 5]], traceparent }
  it("is a snapshot of this version, or none", () => {
    assert.deepStrictEqual<unknown>(readSnapshot(JSON.stringify(snapshot), 3), snapshot)
    const { traceparent: _, ...ofEarlierVersions } = snapshot
    for (const [text, version] of [
      [JSON.stringify(ofEarlierVersions), 3],
      [JSON.stringify(snapshot), 4],
      ["{}", 3],
      ['{"version":3}', 3],
      ["", 3]
    ] as const)
      assert.isUndefined(readSnapshot(text, version))
  })

  it("is a view with its place in the journal, or none", () => {
    assert.deepStrictEqual<unknown>(readView('{"sequence":4,"view":{"a":1}}'), { sequence: 4, view: { a: 1 } })
    for (const text of ["", "{}", '{"sequence":"4","view":1}']) assert.isUndefined(readView(text))
    assert.deepStrictEqual<unknown>(makeViewMark(), { revision: undefined, writtenAtMs: -Infinity })
  })

  it("is the receipts of as many inputs as are kept", () => {
    const receipts = makeReceipts(2)
    const fill = ["a", "b", "c"].map((id, n) => {
      receipts.add(id, n)
      return [receipts.isFull(), receipts.all().length]
    })
    assert.deepStrictEqual(fill, [
      [false, 1],
      [true, 2],
      [true, 2]
    ])
  })
})

describe("the subject of a refusal", () => {
  const { code: _code, ...input } = { code: "", _tag: "Add", runId: "r5", n: 1 }
  const of = (known: string | undefined, refused: object, subject: string) => {
    const actor = { ...counter, runOf: () => known }
    const found = refusalSubjects(
      { actor, subjects: s } as never,
      { key, input: refused as never, meta: { ...meta, subject } },
      counter.initial
    )
    return [...found].map((one) => one.split(".").find((token) => /^(r\d|a)$/.test(token)))
  }

  it("is of the actor's run, of the input's, of the envelope's, or else of the key", () => {
    assert.deepStrictEqual(of("r9", input, "r1"), ["r9", "r5"])
    assert.deepStrictEqual(of(undefined, input, "r1"), ["r5"])
    assert.deepStrictEqual(of(undefined, { _tag: "Add" }, "r1"), ["r1"])
    assert.deepStrictEqual(of(undefined, { _tag: "Add", runId: 7 }, "no run"), ["a"])
  })

  it("has an id with room for its suffix", () => {
    assert.strictEqual(refusalIdOf("x".repeat(200)), `${"x".repeat(190)}.refused`)
  })
})

describe("the span of an input", () => {
  it("is part of the sender's trace, or the first of its own", () => {
    const span = continuing(traceparent)
    assert.strictEqual(span.kind, "consumer")
    assert.deepInclude(span.parent as object, { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true })
    assert.deepStrictEqual(continuing(undefined), { kind: "consumer", root: true })
  })

  const spanIn = (trace: string, span: string) => `00-${trace.repeat(32)}-${span.repeat(16)}-01`
  it.each([
    ["goes on from a sender in it", spanIn("a", "2"), { parent: "2", links: [] }],
    [
      "goes on from its begin for a sender of another trace, to which it is linked",
      spanIn("b", "2"),
      { parent: "1", links: ["2"] }
    ],
    ["goes on from its begin for a sender without a trace", undefined, { parent: "1", links: [] }],
    ["goes on from its begin for a sender whose trace cannot be read", "00-b", { parent: "1", links: [] }]
  ] as const)("of an actor that has a trace %s", (_, sender, expected) => {
    const { kind, links = [], parent, root } = continuing(sender, spanIn("a", "1"))
    const found = { parent: parent?.spanId[0], links: links.map(({ span }) => span.spanId[0]) }
    assert.deepStrictEqual<unknown>(found, expected)
    assert.deepStrictEqual([kind, root, parent?.traceId], ["consumer", undefined, "a".repeat(32)])
  })

  it("is sampled as the sender's is", () => {
    for (const flags of ["00", "01", "02", "03"]) {
      const parent = parentSpan(`00-${"a".repeat(32)}-${"b".repeat(16)}-${flags}`)
      const sampled = flags === "01" || flags === "03"
      assert.containSubset(parent, { value: { sampled } })
      if (parent._tag === "Some") assert.isTrue(traceparentOf(parent.value).endsWith(sampled ? "-01" : "-00"))
    }
    for (const around of [`x${traceparent}`, `${traceparent} `]) assert.strictEqual(parentSpan(around)._tag, "None")
  })
})

it.effect("reads a subject once, and then only what is new", () =>
  Effect.gen(function* () {
    const one = yield* (yield* memoryWorld()).start()
    yield* Effect.gen(function* () {
      const broker = yield* Broker
      const from: Array<number> = []
      const watched = {
        ...broker,
        read: (...[stream, subject, after]: Parameters<typeof broker.read>) => {
          from.push(after ?? 0)
          return broker.read(stream, subject, after)
        }
      } as typeof broker
      const subject = s.event("gate", "r1", "StepStarted")
      const send = (id: string) =>
        broker.publish([{ subject, body: "{}", meta: { ...meta, id, type: "StepStarted", causation: `by ${id}` } }])
      const read: ReadSubjects = new Map()
      const ids = (header: "ce-id" | "reprise-causation") =>
        Effect.map(readSubject(watched, "events", subject, header, read), (found) => [...found.keys()])
      yield* send("e1")
      assert.deepStrictEqual(yield* ids("ce-id"), ["e1"])
      yield* send("e2")
      assert.deepStrictEqual(yield* ids("ce-id"), ["e1", "e2"])
      assert.strictEqual(from[0], 0)
      assert.isAbove(from[1] ?? 0, 0)
    }).pipe(Effect.provide(one))
  })
)
