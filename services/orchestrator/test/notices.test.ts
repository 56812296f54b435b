/** Every limit that was met and every refusal is in the view that `reprise status` shows, with its reason. */
import { assert, layer } from "@effect/vitest"
import { ActorConfig, drain, MemoryBroker, Messenger } from "@reprise/actor"
import { escalationIdOf, OrchestratorCommand } from "@reprise/protocol"
import { Effect, Layer, Schema, Stream } from "effect"
import { layer as orchestrator } from "../src/index.ts"
import { type RunInput, RunReport } from "../src/run/inputs.ts"
import { item, onePhase, runId } from "./support/samples.ts"
import { Story } from "./support/story.ts"

const config = ActorConfig.layer({ prefix: "test" })
const broker = MemoryBroker.layer.pipe(Layer.provideMerge(config))
const world = Messenger.layer.pipe(Layer.provideMerge(broker))

/** Keeps what it is told, so that it can be told to the service. */
class Recorded extends Story {
  readonly inputs: Array<RunInput> = []
  override try(input: RunInput) {
    this.inputs.push(input)
    return super.try(input)
  }
}

const isCommand = Schema.is(Schema.Union([OrchestratorCommand, RunReport]))

/** Answers come from the gate. */
const asSent = (input: RunInput, n: number) =>
  input._tag === "AnswerReceived" ? { id: `escalation.${input.escalationId}.${n}.0` } : {}

const tellService = Effect.fnUntraced(function* (input: RunInput, n: number) {
  const messenger = yield* Messenger
  yield* isCommand(input)
    ? messenger.send({ service: "orchestrator", key: runId, command: input }, asSent(input, n))
    : messenger.publish("workspace", input)
  yield* drain
})

const options = {
  gates: { quality: ["npm test"] },
  limits: { maxQualityRetries: 1, maxReviewIterations: 1, maxStepVisits: 3 }
}

layer(world, { excludeTestServices: true })("a run's notices", (it) => {
  it.effect("name every limit that was met, every refusal and every commit that was turned down, with the reason", () =>
    Effect.gen(function* () {
      yield* Layer.build(orchestrator)
      const s = new Recorded()
      s.executing(options, onePhase).completes("abc1").commitRejected().worked("abc2")
      s.gates(false).worked().gates(false)
      const stale = s.answerOf({ choice: "fix" })
      s.answer("continue-session", "try harder").worked().gates(true)
      s.verdict("not_ready", item("R1")).worked("abc3").answer("fix").gates(true)
      for (const [n, input] of [...s.inputs, stale].entries()) yield* tellService(input, n)

      const messenger = yield* Messenger
      const view = yield* messenger.show.orchestrator(runId)
      assert.strictEqual(view.status, "waiting")
      assert.strictEqual(view.reason, "Phase 1 was reviewed 1 times and not approved: its limit is 1.")
      const refused = `Escalation ${runId}-e1 is not open. The answer changes nothing.`
      assert.deepStrictEqual(view.notices, [
        "Commit abc1 was rejected (missing): abc1 is nowhere",
        "Quality gates still fail after 1 of 1 retries: 'npm test'.",
        "The limit 'quality-retries' of QUALITY_RETRY was granted again.",
        "QUALITY_CHECK was entered 3 times in this phase: its limit is 3.",
        "The limit 'step-visits' of QUALITY_CHECK was granted again.",
        "Phase 1 was reviewed 1 times and not approved: its limit is 1.",
        `AnswerReceived was refused: ${refused}`
      ])
      const [event] = yield* messenger
        .events({ runId, types: ["CommandRefused"], from: "beginning" })
        .pipe(Stream.take(1), Stream.runCollect)
      assert.deepStrictEqual(event?.event, {
        _tag: "CommandRefused",
        runId,
        command: "AnswerReceived",
        code: "question-closed",
        reason: refused,
        escalationId: escalationIdOf(runId, 1)
      })
    })
  )
})
