/** Texts that were slow, or broke a reader, stay linear: `corpus.jsonl` has what `npm run nightly -- fuzz` found. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { growthOf } from "./growth.ts"
import { Pump, textOf } from "./pump.ts"
import { type Target, type TargetName, targets } from "./targets.ts"

const Line = Schema.fromJsonString(
  Schema.Struct({
    target: Schema.Literals(Object.keys(targets) as Array<TargetName>),
    ...Pump.fields,
    was: Schema.String
  })
)
const readLine = Schema.decodeUnknownSync(Line)

const corpus = readFileSync(join(import.meta.dirname, "corpus.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => readLine(line))

/** Quadratic readers have 2. */
const mostExponent = 1.6

describe("a text that repeats itself", () => {
  it.each(corpus)("is read in linear time by $target: $prefix, $unit …, $suffix", ({ target: name, ...pump }) => {
    const { longest, read }: Target = targets[name]
    const { exponent, ms } = growthOf(read, pump, Math.min(longest, 64 * 1024), 3)
    assert.isBelow(exponent, mostExponent, `${ms} ms of processor time`)
  })

  it.each(Object.keys(targets) as Array<TargetName>)("of the greatest length is read by %s", (name) => {
    const { longest, pieces, read }: Target = targets[name]
    for (const unit of pieces.slice(0, 3)) read(textOf({ prefix: "", unit, suffix: "" }, longest - unit.length))
  })
})
