/** The service on a broker: it receives messages, sends its own, and survives the end of its process. */
import { assert, layer } from "@effect/vitest"
import { ActorConfig, drain, MemoryBroker, Messenger } from "@reprise/actor"
import { Host, to } from "@reprise/protocol"
import { Effect, Layer, Stream } from "effect"
import { layer as orchestrator } from "../src/index.ts"
import { head, runId, startRun } from "./support/samples.ts"

const config = ActorConfig.layer({ prefix: "test" })
const broker = MemoryBroker.layer.pipe(Layer.provideMerge(config))
const world = Messenger.layer.pipe(Layer.provideMerge(broker))

layer(world, { excludeTestServices: true })("the orchestrator on a broker", (it) => {
  it.effect("starts a run, continues when the workspace is ready, and shows it, in one process after another", () =>
    Effect.gen(function* () {
      const messenger = yield* Messenger
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(orchestrator)
          yield* messenger.send({ service: "orchestrator", key: runId, command: startRun() })
          yield* drain
        })
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(orchestrator)
          const host = Host.make("host1")
          yield* messenger.publish("workspace", {
            _tag: "WorkspacePrepared",
            runId,
            host,
            directory: "/repo",
            head,
            branch: "main"
          })
          yield* drain
          const view = yield* messenger.show.orchestrator(runId)
          assert.deepStrictEqual([view.status, view.phase, view.step], ["running", "1", "EXECUTE"])
        })
      )
      const seen = yield* messenger
        .events({ runId, services: ["orchestrator"], from: "beginning" })
        .pipe(Stream.take(4), Stream.runCollect)
      assert.deepStrictEqual(
        seen.map(({ event }) => event._tag),
        ["RunStarted", "StepStarted", "PhaseStarted", "StepStarted"]
      )
    })
  )

  it.effect("publishes the refusal of a command", () =>
    Effect.gen(function* () {
      const messenger = yield* Messenger
      yield* Layer.build(orchestrator)
      yield* messenger.send(to.orchestrator(runId).ResumeRun())
      yield* drain
      const [refused] = yield* messenger
        .events({ runId, types: ["CommandRefused"], from: "beginning" })
        .pipe(Stream.take(1), Stream.runCollect)
      assert.deepStrictEqual(refused?.event, {
        _tag: "CommandRefused",
        runId,
        command: "ResumeRun",
        code: "not-paused",
        reason: `Run ${runId} is not paused: it is running.`
      })
    })
  )
})
