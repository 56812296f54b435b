// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { EscalationId, EscalationView, ServiceName, to } from "@reprise/protocol"
import { startReceiver } from "@reprise/testing"
import { Effect, Schema } from "effect"
import { Cluster, clusterLayer } from "../harness/Cluster.ts"
import { environmentOf, lastCounts, spansOf } from "../harness/collected.ts"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const asks = (reason: string) => once({ role: "author", kind: "report" }, needsHuman(reason))
const decodeQuestions = Schema.decodeUnknownSync(Schema.Array(EscalationView))

/** The id of the open question that asks this. */
const questionOf = (asked: string) =>
  Effect.gen(function* () {
    const messenger = yield* Messenger
    const open = decodeQuestions(yield* messenger.query("gate", "list", { state: "open" }))
    return open.find(({ reason }) => reason.includes(asked))?.escalationId
  })

describe("the trace of a run", () => {
  it.live(
    "goes on after an answer and after what a human tells the run, in processes that began later, and no step is unmeasured",
    () =>
      Effect.gen(function* () {
        const collector = yield* startReceiver()
        const environment = () => ({ ...environmentOf(collector.url)(), OTEL_METRIC_EXPORT_INTERVAL: "1000" })
        const options = { plan: plan("One"), script: script(asks("Which colour?"), asks("Which size?")), environment }
        const story = Effect.gen(function* () {
          const { address, kill, serve, world } = yield* Cluster
          const messenger = yield* Messenger
          const reprise = (...args: ReadonlyArray<string>) =>
            Effect.map(world.reprise(...args, "--nats", address), ({ code, stderr }) =>
              assert.strictEqual(code, 0, stderr)
            )
          const handled = () =>
            spansOf(collector.requests, "/v1/traces").filter(({ name }) =>
              /^(orchestrator|workspace|session-manager|reviewer|gate) [A-Z]/.test(name)
            )
          const named = (one: string) => handled().filter(({ name }) => name === one)
          const until = (one: string) => waitUntil(Effect.sync(() => named(one)[0]))

          yield* Effect.forEach(ServiceName.literals, serve, { concurrency: 2, discard: true })
          const run = yield* world.reprise("run", "PLAN.md", "--no-input", "--nats", address)
          assert.strictEqual(run.code, 4, run.stderr)
          const colour = yield* waitUntil(questionOf("Which colour?"))
          const { traceId } = yield* until("orchestrator StartRun")
          yield* until("gate RaiseEscalation")
          yield* Effect.forEach(["orchestrator", "gate"] as const, (service) =>
            Effect.andThen(kill(service), serve(service))
          )

          yield* reprise("pause")
          yield* reprise("resume")
          yield* reprise("gate", "answer", colour, "c", "--guidance", "Blue")
          const size = yield* waitUntil(questionOf("Which size?"))
          const answer = to.gate(EscalationId.make(size)).AnswerEscalation({
            ...{ choice: "continue-session", guidance: "Large", by: "bot", via: "bot" }
          })
          const ofBot = "b".repeat(32)
          yield* messenger.send(answer, { traceparent: `00-${ofBot}-${"c".repeat(16)}-01` })
          yield* until("orchestrator PhaseFinished")

          const answers = yield* waitUntil(
            Effect.sync(() => {
              const found = named("gate AnswerEscalation")
              return found.length === 2 ? found : undefined
            })
          )
          for (const one of [
            "orchestrator PauseRun",
            "orchestrator ResumeRun",
            "orchestrator AnswerReceived",
            "session-manager RunPrompt",
            "reviewer RequestReview"
          ]) {
            yield* until(one)
          }
          assert.deepStrictEqual(new Set(handled().map((span) => span.traceId)), new Set([traceId]))
          const linked = [...answers, ...named("orchestrator PauseRun"), ...named("orchestrator ResumeRun")].map(
            ({ links }) => links.map((link) => link.traceId)
          )
          assert.deepStrictEqual(
            linked.map(({ length }) => length),
            [1, 1, 1, 1]
          )
          assert.include(linked.flat(), ofBot)
          assert.notInclude(linked.flat(), traceId)

          const lengths = () => lastCounts(collector.requests, "reprise_step_seconds")
          yield* waitUntil(Effect.sync(() => lengths().get("REVIEW")))
          // One for each attempt; the first began in the process that was killed.
          assert.strictEqual(lengths().get("EXECUTE"), 3)
        })
        yield* Effect.provide(story, clusterLayer(options))
      }).pipe(Effect.scoped)
  )
})
