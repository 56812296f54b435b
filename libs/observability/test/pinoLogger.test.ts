import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Schema } from "effect"
import { layerPino, makePino } from "../src/index.ts"

const Line = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const readLine = Schema.decodeUnknownSync(Line)

it.live("writes lines of JSON with the annotations as fields, from the level that was asked for, without secrets", () =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-log-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const file = join(directory, "logs", "reprise.log")
    yield* Effect.gen(function* () {
      yield* Effect.logDebug("not asked for")
      yield* Effect.logInfo("asked for", { password: "canary", nested: { token: "canary" } })
      yield* Effect.logWarning("went wrong", Cause.fail(new Error("why")))
    }).pipe(
      Effect.annotateLogs({ runId: "r1", phase: "2", sessionId: "r1-s1", turnId: "r1-t1" }),
      Effect.provide(layerPino(makePino(file, "Info"), "Info"))
    )
    const text = readFileSync(file, "utf8")
    assert.notInclude(text, "canary")
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => readLine(line))
    assert.deepStrictEqual(
      lines.map(({ msg, level }) => [level, msg]),
      [
        [30, "asked for"],
        [40, "went wrong"]
      ]
    )
    for (const line of lines) {
      assert.containSubset(line, { runId: "r1", phase: "2", sessionId: "r1-s1", turnId: "r1-t1" })
      assert.match(String(line["time"]), /^\d{4}-\d\d-\d\dT.*Z$/)
    }
    assert.include(text, "why")
  }).pipe(Effect.scoped)
)
