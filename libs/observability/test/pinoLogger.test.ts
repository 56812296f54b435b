import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Schema } from "effect"
import { layerPino, makePino } from "../src/index.ts"

const Line = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const readLine = Schema.decodeUnknownSync(Line)

it.effect("keeps its file and folder for their owner alone, also those of an older version, and follows no link", () =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-log-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const folder = join(directory, "logs")
    const file = join(folder, "reprise.log")
    const modes = () => [folder, file].map((path) => statSync(path).mode & 0o777)
    makePino(file, "Info").info("new")
    assert.deepStrictEqual(modes(), [0o700, 0o600])
    chmodSync(folder, 0o755)
    chmodSync(file, 0o644)
    makePino(file, "Info").info("again")
    assert.deepStrictEqual(modes(), [0o700, 0o600])
    assert.match(readFileSync(file, "utf8"), /new[\s\S]*again/)

    const elsewhere = join(directory, "elsewhere")
    writeFileSync(elsewhere, "")
    mkdirSync(join(directory, "linked"))
    symlinkSync(elsewhere, join(directory, "linked", "reprise.log"))
    assert.throws(() => makePino(join(directory, "linked", "reprise.log"), "Info"), /ELOOP/)
    assert.strictEqual(readFileSync(elsewhere, "utf8"), "")
  }).pipe(Effect.scoped)
)

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
