import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, Broker, drain, JetStreamBroker, Messenger } from "@reprise/actor"
import { ensureStreams, Nats } from "@reprise/nats"
import { defaultRunOptions, RunId, subjects, to } from "@reprise/protocol"
import { lacksTestBroker, Broker as Server, testBroker } from "@reprise/testing"
import { Effect, Layer, Logger, Schema, Stream } from "effect"
import { layer } from "../src/index.ts"

const runId = RunId.make("race")
const names = subjects("race")

/** One process with an orchestrator. */
const orchestrator = (url: string) =>
  Layer.build(
    Layer.fresh(
      layer.pipe(
        Layer.provideMerge(Messenger.layer),
        Layer.provideMerge(JetStreamBroker.layer),
        Layer.provide(Layer.effectDiscard(ensureStreams("race", { storageBytes: 512 * 1024 ** 2 }))),
        Layer.provide(Nats.layer({ url, name: "race" })),
        Layer.provideMerge(ActorConfig.layer({ prefix: "race" })),
        Layer.provide(Logger.layer([]))
      )
    )
  )

const Entry = Schema.fromJsonString(
  Schema.Struct({
    input: Schema.Struct({ id: Schema.String, type: Schema.String }),
    events: Schema.Array(Schema.Struct({ _tag: Schema.String }))
  })
)
const decodeEntry = Schema.decodeUnknownEffect(Entry)

const commands = Array.from({ length: 1_000 }, (_, n) => ({
  id: `command-${n}`,
  command: n % 2 === 0 ? to.orchestrator(runId).PauseRun({ now: false }) : to.orchestrator(runId).ResumeRun()
}))

const sent = new Set(commands.map(({ id }) => id))

describe.skipIf(await Effect.runPromise(lacksTestBroker))("two orchestrators on one broker", () => {
  it.live("race for one run with 1 000 commands, each sent twice: one history, no lost or doubled step", () =>
    Effect.gen(function* () {
      const { url } = yield* Server
      const first = yield* orchestrator(url)
      const second = yield* orchestrator(url)
      const start = to.orchestrator(runId).StartRun({
        plan: "# P\n\n## Phase 1: A\n\n- [ ] x\n",
        planPath: "PLAN.md",
        workspace: "/w",
        options: defaultRunOptions
      })

      yield* Effect.gen(function* () {
        const messenger = yield* Messenger
        yield* messenger.send(start, { id: "start" })
        const sendAll = Effect.forEach(commands, ({ command, id }) => messenger.send(command, { id }), {
          concurrency: 64
        })
        yield* Effect.all([sendAll, Effect.provide(sendAll, second)], { concurrency: 2 })
        yield* drain

        const broker = yield* Broker
        const stored = yield* broker.read("journal", names.journal("run", runId), 0)
        const entries = yield* Effect.forEach(stored, ({ body }) => Effect.flatMap(body, decodeEntry))
        const decided = entries.map(({ input }) => input.id)
        assert.strictEqual(new Set(decided).size, decided.length, "no command is decided twice")

        const last = (yield* broker.last("events", names.events("orchestrator", runId)))?.sequence ?? 0
        const seen = yield* messenger.events({ runId, services: ["orchestrator"], from: "beginning" }).pipe(
          Stream.takeUntil(({ sequence }) => sequence >= last),
          Stream.runCollect
        )
        const refused = seen.flatMap(({ event, meta }) =>
          event._tag === "CommandRefused" ? [meta.causation ?? "nobody's"] : []
        )
        assert.strictEqual(new Set(refused).size, refused.length, "no command is refused twice")
        assert.deepStrictEqual(
          [...decided, ...refused].filter((id) => sent.has(id)).sort(),
          [...sent].sort(),
          "every command is either decided or refused"
        )

        const published = seen.filter(({ event }) => event._tag === "RunPaused").length
        const journalled = entries.flatMap(({ events }) => events).filter(({ _tag }) => _tag === "RunPaused").length
        assert.strictEqual(published, journalled, "what was decided was published, once")

        const show = Effect.flatMap(Messenger, (it) => it.show.orchestrator(runId))
        assert.deepStrictEqual(yield* show, yield* Effect.provide(show, second), "both see the same run")
      }).pipe(Effect.provide(first))
    }).pipe(Effect.provide(testBroker), Effect.scoped)
  )
})
