import { assert, describe, it } from "@effect/vitest"
import { encodeMeta, OrchestratorCommand, RunId } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { readEntry } from "../src/JournalEntry.ts"
import { readSnapshot } from "../src/runtime/ActorMemory.ts"
import { readView } from "../src/runtime/views.ts"
import { bodyReader, encodeCommand, encodeEvent, readEvent, readMeta } from "../src/wire.ts"
import { CounterCommand } from "./support/Counter.ts"

const readCommand = bodyReader(CounterCommand)

/** A generator of numbers below `n` that gives the same ones in every run. */
const makeDice = (seed: number) => {
  let state = seed
  return (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

const pieces = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "n",
  "_tag",
  "__proto__",
  "1e999",
  "null",
  "-0",
  "\\u0000",
  "\ud800",
  " ",
  "ö",
  "9".repeat(40)
]

/** A text with some characters removed, replaced or inserted. */
const mutate = (dice: (n: number) => number, text: string): string => {
  let mutated = text
  for (let edits = dice(4); edits > 0; edits--) {
    const at = dice(mutated.length + 1)
    const piece = pieces[dice(pieces.length)] ?? ""
    mutated = mutated.slice(0, at) + (dice(3) === 0 ? "" : piece) + mutated.slice(at + dice(4))
  }
  return mutated
}

const bodies = [
  `{"n":1}`,
  `{"text":"hello","dueAt":"2026-01-01T00:00:00.000Z","n":3}`,
  `{"runId":"r1","escalationId":"r1-e1","reason":"x","options":[],"evidence":{},"origin":"author"}`,
  `{"input":{"id":"a","type":"Add"},"at":"t","run":"r","traceparent":"x","events":[{}],"outgoing":[]}`,
  `{"version":1,"sequence":3,"state":{},"receipts":[["a",1]]}`
]

/** Every beginning of each body, every piece in place of every value, and texts with a few random edits. */
const malformed = (dice: (n: number) => number): ReadonlyArray<string> => [
  ...bodies.flatMap((body) => Array.from(body, (_, length) => body.slice(0, length))),
  ...bodies.flatMap((body) =>
    [...body.matchAll(/(?<=:)("[^"]*"|\d+|\[\]|\{\})/g)].flatMap(({ 0: value, index }) =>
      pieces.map((piece) => body.slice(0, index) + piece + body.slice(index + value.length))
    )
  ),
  ...Array.from({ length: 600 }, (_, n) => mutate(dice, bodies[n % bodies.length] ?? ""))
]

const envelope: Readonly<Record<string, string>> = encodeMeta({
  id: "x",
  type: "Add",
  source: "/gate/local",
  subject: "r1",
  time: "2026-01-01T00:00:00.000Z",
  traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`
})

describe("messages", () => {
  it("carry the payload without its type, which travels in the envelope", () => {
    const command: CounterCommand = { _tag: "Add", n: 1 }
    assert.deepStrictEqual(encodeCommand("gate", command), { n: 1 })
    assert.deepStrictEqual(Result.getOrThrow(readCommand("Add", `{"n":1}`)), { _tag: "Add", n: 1 })
  })

  it("may leave out what their subject and envelope say, and are believed where they say it", () => {
    const read = bodyReader(OrchestratorCommand)
    const around = { runId: "r1" }
    assert.deepStrictEqual(Result.getOrThrow(read("AbortRun", `{"reason":"x"}`, around)), {
      _tag: "AbortRun",
      runId: RunId.make("r1"),
      reason: "x"
    })
    const other = Result.getOrThrow(read("AbortRun", `{"reason":"x","runId":"r2"}`, around))
    assert.strictEqual(other.runId, "r2")
  })

  it("are what the envelope says, whatever type the body claims", () => {
    assert.deepStrictEqual(Result.getOrThrow(readCommand("Add", `{"_tag":"Explode","n":1}`)), { _tag: "Add", n: 1 })
  })

  it("of the protocol are checked by their schema when they are made", () => {
    const abort = { _tag: "AbortRun", runId: "r1", reason: "enough" } as const
    assert.deepStrictEqual(encodeCommand("orchestrator", abort), { runId: "r1", reason: "enough" })
    assert.throws(() => encodeCommand("orchestrator", { ...abort, ...{ runId: "r.1" } }), /letters/)
    assert.throws(() => encodeEvent(JSON.parse(`{"_tag":"RunFailed","runId":"r1"}`)), /reason/)
  })

  it("of one type are refused without a word about the others, however the types are put together", () => {
    const Other = Schema.TaggedUnion({ Subtract: { n: Schema.Int }, Nothing: {} })
    const read = bodyReader(Schema.Union([CounterCommand, Other]))
    const { reason } = Result.getOrThrow(Result.flip(read("Add", `{"n":"two"}`)))
    assert.strictEqual(reason, 'The body does not match Add: Expected number\n  at ["n"]')
    assert.deepStrictEqual(Result.getOrThrow(read("Subtract", `{"n":1}`)), { _tag: "Subtract", n: 1 })
  })

  it("of an unknown version are refused, and the refusal says why", () => {
    const read = (headers: Readonly<Record<string, string>>) =>
      readMeta((name) => ({ ...envelope, ...headers })[name] ?? "")
    const reason = (headers: Readonly<Record<string, string>>) => Result.getOrThrow(Result.flip(read(headers))).reason
    assert.match(reason({ "ce-type": "dev.reprise.Add.v2" }), /'dev\.reprise\.Add\.v2', and only .*\.v1 is known/)
    assert.match(reason({ "ce-specversion": "2.0" }), /ce-specversion is '2\.0', and only 1\.0 is known/)
    assert.strictEqual(Result.getOrThrow(read({ "ce-specversion": "" })).type, "Add")
  })

  it("that are malformed are refused with a reason and never throw", () => {
    const dice = makeDice(20260101)
    const types = ["Add", "Keep", "EscalationRaised", "RunPaused", "", "__proto__", "constructor"]
    const names = Object.keys(envelope)
    let understood = 0
    const isRead = (outcome: Result.Result<unknown, { readonly reason: string }>, text: string) => {
      if (Result.isSuccess(outcome)) understood += 1
      else if (outcome.failure.reason.length < 10) assert.fail(`no reason for ${text}`)
    }
    const readers: ReadonlyArray<(type: string, body: string) => Result.Result<unknown, { readonly reason: string }>> =
      [readEvent, readCommand, (_type, body) => readEntry(body)]
    // Most texts fail before a schema sees them, so each goes to one reader only; headers have a line of their own.
    for (const [n, body] of malformed(dice).entries()) {
      assert.doesNotThrow(() => [readSnapshot(body, 1), readView(body)])
      isRead(readers[n % readers.length]?.(types[n % types.length] ?? "", body) ?? Result.void, body)
    }
    for (const name of names) {
      for (const value of [...pieces, "", "dev.reprise.Add.v1", "x".repeat(300), "a\r\nb"]) {
        isRead(
          readMeta((header) => (header === name ? value : (envelope[header] ?? ""))),
          value
        )
      }
    }
    assert.isAbove(understood, 100)
  })

  it("of a hundred thousand nested brackets are refused", () => {
    const deep = `{"n":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    assert.isTrue(Result.isFailure(readCommand("Add", deep)))
    assert.isTrue(Result.isFailure(readEvent("RunPaused", deep)))
  })
})
