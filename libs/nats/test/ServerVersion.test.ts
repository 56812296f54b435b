import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { compareVersions, formatVersion, notGuaranteed, parseServerVersion, supports } from "../src/ServerVersion.ts"

const version = (text: string) => Option.getOrThrow(parseServerVersion(text))

describe("parseServerVersion", () => {
  it.each([
    ["nats-server: v2.10.27", "2.10.27"],
    ["nats-server: v2.9.10\n", "2.9.10"],
    ["2.12.0-RC.1", "2.12.0"],
    ["v2.15.1", "2.15.1"]
  ])("reads %j as %s", (text, expected) => assert.strictEqual(formatVersion(version(text)), expected))

  it.each(["", "nats-server", "2.10", "v.2.10.x"])("finds no version in %j", (text) =>
    assert.isTrue(Option.isNone(parseServerVersion(text)))
  )
})

it.each([
  ["2.9.10", "2.10.0", -1],
  ["2.10.9", "2.10.27", -1],
  ["2.10.27", "2.10.27", 0],
  ["3.0.0", "2.99.99", 1]
] as const)("compares %s with %s by number, not by text", (a, b, sign) =>
  assert.strictEqual(Math.sign(compareVersions(version(a), version(b))), sign)
)

it.each([
  ["2.9.10", "syncAlways", false],
  ["2.10.0", "syncAlways", true],
  ["2.9.25", "filterSubjects", false],
  ["2.10.3", "termReason", false],
  ["2.10.4", "termReason", true],
  ["2.10.27", "messageTtl", false],
  ["2.11.0", "messageTtl", true],
  ["2.11.9", "atomicBatch", false],
  ["2.12.0", "scheduledMessages", true]
] as const)("knows whether %s supports %s", (text, feature, expected) =>
  assert.strictEqual(supports(version(text), feature), expected)
)

it.each([
  ["2.8.4", 1],
  ["2.9.10", 3],
  ["2.10.22", 1],
  ["2.10.23", 0],
  ["2.12.3", 0]
] as const)("lists what %s does not guarantee", (text, sentences) => {
  const said = notGuaranteed(version(text))
  assert.strictEqual(said.length, sentences)
  for (const sentence of said) assert.include(sentence, text)
})
