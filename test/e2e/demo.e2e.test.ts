// @module-tag long
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunView } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { pagesWithOutputs, recordedOutputs, withOutputs } from "../record/outputs.ts"
import { shownRunOutput } from "../record/shownRun.ts"

const decodeRuns = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ data: Schema.Array(RunView) })))
const Call = Schema.Struct({ kind: Schema.String, round: Schema.Int, role: Schema.optionalKey(Schema.String) })
const decodeCall = Schema.decodeUnknownSync(Schema.fromJsonString(Call))

/** The sandbox as it is for users. */
const usual = { REPRISE_SANDBOX_MODE: "auto" }

describe("reprise demo", () => {
  it.live("completes, prompts the model once for each turn, report and all, and prints what the documents show", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), config: "", script: script() })
      const folder = join(world.root, "..", "demo")
      const demo = yield* world.reprise("demo", "--no-input", "--directory", folder)
      assert.strictEqual(demo.code, 0, demo.stderr)
      const status = yield* world.repriseIn({ directory: join(folder, "greeter") }, "status", "--json")
      const [run] = decodeRuns(status.stdout).data
      assert.strictEqual(run?.status, "completed")
      const { author, reviewer } = run?.usage ?? assert.fail("there is no run")
      assert.deepStrictEqual([author.turns, reviewer.turns], [4, 3])
      const lines = readFileSync(join(folder, "model-calls.jsonl"), "utf8").trim().split("\n")
      const ours = lines.map((line) => decodeCall(line)).filter(({ kind }) => kind !== "title" && kind !== "summary")
      assert.strictEqual(ours.filter(({ round }) => round === 0).length, 7)
      assert.strictEqual(ours.filter(({ kind }) => kind === "report").length, 0, "no report took a call of its own")
      // Writing and committing takes a call each, and the report another: three times.
      assert.deepStrictEqual([author.calls + reviewer.calls, ours.length], [13, 13])

      const directory = join(folder, "greeter")
      const called = new Map([
        ["demo --no-input", { directory, output: demo.stderr + demo.stdout }],
        ["run PLAN.md", yield* shownRunOutput]
      ])
      const call = (at: string, words: ReadonlyArray<string>) =>
        world.repriseIn({ directory: at, environment: usual }, ...words).pipe(
          Effect.map(({ stderr, stdout }) => stdout + stderr),
          Effect.runPromise
        )
      for (const path of pagesWithOutputs) {
        const page = readFileSync(path, "utf8")
        const recording = { called, demo: directory, runId: run?.runId ?? "", folder, call }
        const outputs = yield* Effect.promise(() => recordedOutputs(page, recording))
        assert.strictEqual(
          withOutputs(page, outputs),
          page,
          `'npm run record -- outputs' writes the outputs in ${path}`
        )
      }
    })
  )
})
