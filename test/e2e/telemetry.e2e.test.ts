import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { startReceiver } from "@reprise/testing"
import { Effect } from "effect"
import { environmentOf, lastValues, linesOf, spansOf } from "../harness/collected.ts"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

describe("OpenTelemetry", () => {
  it.live("gets a run as one trace over its services, with its metrics and log lines", () =>
    Effect.gen(function* () {
      const collector = yield* startReceiver()
      const config = 'permissions = "all"\n\n[log]\nlevel = "Debug"\n'
      const world = yield* makeWorld({ ...oneQuestion, config, environment: environmentOf(collector.url) })
      const run = yield* world.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(run.code, 4, run.stderr)
      const handled = spansOf(collector.requests, "/v1/traces").filter(({ name }) =>
        /^(orchestrator|workspace|session-manager|gate) [A-Z]/.test(name)
      )
      for (const one of [
        "orchestrator StartRun",
        "workspace PrepareWorkspace",
        "session-manager RunPrompt",
        "gate RaiseEscalation"
      ]) {
        assert.include(
          handled.map(({ name }) => name),
          one
        )
      }
      const [traceId, ...others] = new Set(handled.map((span) => span.traceId))
      assert.deepStrictEqual(others, [])
      assert.include(
        linesOf(collector.requests, "/v1/logs").map((line) => line.traceId),
        traceId
      )
      assert.include(
        readFileSync(join(world.root, ".reprise", "logs", "reprise.log"), "utf8"),
        `"traceId":"${traceId}"`
      )
      const values = lastValues(collector.requests)
      const [view] = yield* world.runs
      assert.strictEqual(values.get("reprise_turns_total author completed"), 1)
      assert.strictEqual(values.get("reprise_tokens_total author input"), view?.usage.author.tokens.input)
      assert.strictEqual(values.get("reprise_questions_total raised"), 1)
      assert.strictEqual(values.get("reprise_runs_started_total"), 1)
    })
  )

  it.live("may be away without holding up a run, and is refused before anything starts when it is no address", () =>
    Effect.gen(function* () {
      const away = yield* makeWorld({ ...oneQuestion, environment: environmentOf("http://127.0.0.1:1") })
      const run = yield* away.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(run.code, 4, run.stderr)
      const wrong = yield* makeWorld({ ...oneQuestion, environment: environmentOf("localhost:4318") })
      const refused = yield* wrong.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(refused.code, 3, refused.stderr)
      assert.match(refused.stderr, /OTEL_EXPORTER_OTLP_ENDPOINT is 'localhost:4318'.*Set an address such as/)
      assert.deepStrictEqual(yield* wrong.runs, [])
    })
  )
})
