/**
 * What saving a conversation at the end of a turn costs, for a short and a long one, compared with storing the same bytes
 * once. The runtime is in memory, so that reading from it costs nothing. For comparison: storing the whole each time.
 */
import { ActorConfig, Broker, JetStreamBroker, Messenger, type WorkContext } from "@reprise/actor"
import { AgentRuntime, AgentRuntimes, promptIds } from "@reprise/agent"
import { ensureStreams } from "@reprise/nats"
import { Key } from "@reprise/protocol"
import { digestOf, saveNewMessages } from "@reprise/session-manager/saveNewMessages"
import { Effect, Layer } from "effect"
import { embedded } from "./embedded.ts"
import { figuresOf } from "./figures.ts"

const prefix = "bench"
/** Turns before the first measured one. A turn is a prompt and its answer. */
const conversations = { short: 5, long: 1_000 }
const rounds = 30
const said = "Four kilobytes of what an agent writes in a turn. ".repeat(80)

const system = Layer.mergeAll(
  Messenger.layer,
  AgentRuntimes.layerSingle.pipe(Layer.provideMerge(AgentRuntime.layerMemory({ script: () => [{ say: said }] })))
).pipe(Layer.provideMerge(JetStreamBroker.layer), Layer.provideMerge(ActorConfig.layer({ prefix })))

const milliseconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const started = performance.now()
    yield* effect
    return performance.now() - started
  })

const measured = Effect.fnUntraced(function* (name: keyof typeof conversations) {
  const runtime = yield* AgentRuntime
  const { transcripts } = yield* Broker
  const id = yield* runtime.create({ directory: "/", title: name, permissions: "all" })
  const turn = (n: number) =>
    runtime.prompt({ runtimeSessionId: id, directory: "/", promptId: promptIds(n, name, n), text: `Turn ${n}.` })
  yield* Effect.forEach(
    Array.from({ length: conversations[name] }, (_, n) => n),
    turn,
    { discard: true }
  )
  const object = `session/${name}/${id}`
  const save = Effect.fnUntraced(function* (n: number, saved?: Parameters<typeof saveNewMessages>[0]["saved"]) {
    const context: WorkContext = {
      id: `${name}.${n}`,
      key: Key.make(name),
      subject: name,
      delivery: 1,
      requestedAt: new Date().toISOString(),
      isDrained: () => false
    }
    const work = { runtime: runtime.name, directory: "/", runtimeSessionId: id, object } as const
    const ms = yield* milliseconds(
      saveNewMessages({ _tag: "SaveNewMessages", ...work, ...(saved === undefined ? {} : { saved }) }, context)
    )
    const messages = yield* runtime.history(id)
    return { ms, saved: { object: `${object}/${context.id}`, messages: messages.length, digest: digestOf(messages) } }
  })

  const times = { saving: [] as number[], floor: [] as number[], whole: [] as number[] }
  let bytes = 0
  let { saved } = yield* save(0)
  for (let round = 1; round <= rounds; round++) {
    yield* turn(conversations[name] + round)
    const done = yield* save(round, saved)
    saved = done.saved
    times.saving.push(done.ms)
    const text = (yield* transcripts.get(saved.object)) ?? ""
    bytes = text.length
    times.floor.push(yield* milliseconds(transcripts.put(`floor/${name}/${round}`, text)))
    const whole = JSON.stringify(yield* runtime.history(id))
    times.whole.push(yield* milliseconds(transcripts.put(`whole/${name}`, whole)))
  }
  const [saving, floor, whole] = [times.saving, times.floor, times.whole].map((all) => figuresOf(all).p50)
  if (saving === undefined || floor === undefined || whole === undefined) return
  process.stdout.write(
    `${name} conversation (${saved.messages} messages): ${bytes} bytes a turn, p50 ${saving.toFixed(1)} ms, ` +
      `${(saving / floor).toFixed(1)} times the floor of ${floor.toFixed(1)} ms; the whole takes ${whole.toFixed(1)} ms\n`
  )
})

const measure = Effect.gen(function* () {
  yield* ensureStreams(prefix, { storageBytes: 1024 * 1024 ** 2 })
  yield* Effect.forEach(["short", "long"] as const, measured, { discard: true }).pipe(Effect.provide(system))
})

export const savedTurns = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.scoped, Effect.provide(embedded)))
