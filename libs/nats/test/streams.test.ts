import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import { differences } from "../src/compareConfig.ts"
import { displayUrl } from "../src/Nats.ts"
import { checkPrefix, shareOf, smallestStorageBytes, streamDefinitions } from "../src/streams.ts"

const definitions = streamDefinitions("acme-1")
const named = (stream: string) =>
  Option.getOrThrow(Option.fromNullishOr(definitions.find((it) => it.stream === stream)))
const nanosPerDay = 24 * 3600 * 1e9

describe("streamDefinitions", () => {
  it("names streams after the prefix in capitals, and buckets after the prefix", () => {
    assert.deepStrictEqual(
      definitions.map(({ stream }) => stream),
      [
        "ACME-1_COMMANDS",
        "ACME-1_WORK",
        "ACME-1_EVENTS",
        "ACME-1_JOURNAL",
        "ACME-1_TIMERS",
        "ACME-1_DEAD",
        "KV_acme-1_snapshots",
        "KV_acme-1_views",
        "OBJ_acme-1_transcripts"
      ]
    )
  })

  it.each([
    ["ACME-1_COMMANDS", "acme-1.command.*.*", "for 7 days", 7],
    ["ACME-1_WORK", "acme-1.work.*.*.*", "for 7 days", 7],
    ["ACME-1_EVENTS", "acme-1.event.*.*.*", "for 30 days", 30],
    ["ACME-1_JOURNAL", "acme-1.journal.*.*", "forever", 0],
    ["ACME-1_TIMERS", "acme-1.timer.*.*", "for 400 days", 400],
    ["ACME-1_DEAD", "acme-1.dead.*.*", "forever", 0]
  ])("keeps in %s the subjects %s %s", (stream, subject, _duration, days) => {
    const { config } = named(stream)
    assert.deepStrictEqual(config.subjects, [subject])
    assert.strictEqual(config.max_age, days * nanosPerDay)
    assert.strictEqual(config.duplicate_window, 600 * 1e9)
    assert.strictEqual(config.retention, "limits")
  })

  it("refuses new messages everywhere rather than dropping old ones", () => {
    for (const { config } of definitions) assert.strictEqual(config.discard, "new")
  })

  it("divides no more storage than it has", () => {
    for (const total of [smallestStorageBytes, 4 * 1024 ** 3, 1e9 + 7]) {
      const shares = definitions.map((definition) => shareOf(total, definition))
      assert.isAtMost(
        shares.reduce((sum, share) => sum + share, 0),
        total
      )
      assert.isAbove(Math.min(...shares), 2 * 1024 ** 2)
    }
  })
})

it.each(["reprise", "a", "A-b_9", "x".repeat(32)])("accepts the prefix %j", (prefix) =>
  assert.isTrue(Result.isSuccess(checkPrefix(prefix)))
)
it.each(["", "a.b", "*", ">", "a b", "a\n", "é", "$JS", "x".repeat(33), "x".repeat(5000)])(
  "refuses the prefix %j",
  (prefix) => assert.isTrue(Result.isFailure(checkPrefix(prefix)))
)

describe("differences", () => {
  it("finds none between a wanted setting and the zero value a server leaves out", () => {
    assert.deepStrictEqual(differences({ max_age: 0, allow_direct: false }, { name: "x" }), [])
  })
  it("compares lists in any order, and only wanted fields", () => {
    assert.deepStrictEqual(differences({ subjects: ["b", "a"] }, { subjects: ["a", "b"], other: 1 }), [])
  })
  it("names the field, what was wanted and what was found", () => {
    assert.deepStrictEqual(differences({ storage: "file", max_bytes: 5 }, { storage: "memory", max_bytes: 5 }), [
      { field: "storage", wanted: "file", found: "memory" }
    ])
  })
})

it.each([
  ["nats://user:secret@broker.example:4222", "nats://broker.example:4222"],
  ["nats://broker.example:4222", "nats://broker.example:4222"],
  ["tls://token@broker.example", "tls://broker.example"],
  ["nats://user:sec@ret@broker.example", "nats://broker.example"],
  ["nats://broker.example?me@home", "nats://broker.example?me@home"],
  ["nats://127.0.0.1:1", "nats://127.0.0.1:1"]
])("shows %s without its secret", (url, shown) => assert.strictEqual(displayUrl(url), shown))
