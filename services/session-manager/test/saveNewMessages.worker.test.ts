/** Saving what is new, delivered again, beside itself, and without its runtime. */
import { assert, describe, it } from "@effect/vitest"
import { Broker, type WorkContext } from "@reprise/actor"
import { AgentRuntime, MemoryControl, type MemoryScript, type Message, promptIds } from "@reprise/agent"
import { Host, Key } from "@reprise/protocol"
import { Duration, Effect, Layer, Result, Schedule } from "effect"
import type { WorkOf } from "../src/session/work.ts"
import { readTranscript } from "../src/work/readTranscript.ts"
import { digestOf, saveNewMessages } from "../src/work/saveNewMessages.ts"
import { inMemory, stage, surroundings } from "./support/stage.ts"
import { goodReport, newTurn } from "./support/story.ts"

type Saved = WorkOf<"SaveNewMessages">["saved"]

const world = surroundings(({ turn }) => [{ say: `Answer ${turn}.` }])

const scene = Effect.gen(function* () {
  const runtime = yield* AgentRuntime
  const id = yield* runtime.create({ directory: "/", title: "t", permissions: "all" })
  const object = `session/s/${id}`
  const part = (n: number) => `${object}/work.${n}`
  let turns = 0
  return {
    object,
    part,
    said: runtime.history(id),
    turn: Effect.suspend(() => {
      const promptId = promptIds(turns, "t", turns++)
      return runtime.prompt({ runtimeSessionId: id, directory: "/", promptId, text: `Turn ${turns}.` })
    }),
    /** The n-th piece of work; gives what its session knows once it is reported. */
    save: Effect.fnUntraced(function* (n: number, saved?: Saved, more: { delivery?: number; lost?: true } = {}) {
      const { delivery = 1 } = more
      const context: WorkContext = {
        id: `work.${n}`,
        key: Key.make("s"),
        subject: "r",
        delivery,
        requestedAt: "",
        isDrained: () => false
      }
      yield* saveNewMessages(
        {
          _tag: "SaveNewMessages",
          runtime: more.delivery === undefined ? "opencode" : "claude",
          directory: "/",
          runtimeSessionId: more.lost === true ? "unknown" : id,
          object,
          ...(saved === undefined ? {} : { saved })
        },
        context
      )
      const messages = yield* runtime.history(id)
      return { object: part(n), messages: messages.length, digest: digestOf(messages) }
    })
  }
})

const run = <A, E>(test: Effect.Effect<A, E, Layer.Success<typeof world>>) =>
  test.pipe(Effect.provide(Layer.fresh(world)))

it("tells a conversation whose newest message has changed from what it was", () => {
  const said = (words: string): ReadonlyArray<Message> =>
    Array.from({ length: 20 }, (_, n) => ({
      id: `m${n}`,
      role: "assistant",
      content: [{ type: "text", text: n === 19 ? words : "The same." }],
      timestamp: ""
    }))
  assert.strictEqual(digestOf(said("Yes.")), digestOf(said("Yes.")))
  assert.notStrictEqual(digestOf(said("Yes.")), digestOf(said("No.")))
})

describe("saving what is new", () => {
  it.effect("leads to the whole conversation, whether the parts before it were reported or not", () =>
    run(
      Effect.gen(function* () {
        const { part, said, save, turn } = yield* scene
        yield* turn
        const first = yield* save(1)
        yield* turn
        // Its report never arrives: the next one follows the same part.
        yield* save(2, first)
        yield* turn
        const third = yield* save(3, first)
        const whole = yield* said
        assert.deepStrictEqual((yield* readTranscript(part(3)))?.messages, whole)
        assert.deepStrictEqual((yield* readTranscript(part(3)))?.objects, [part(3), part(1)])
        assert.deepStrictEqual((yield* readTranscript(part(2)))?.messages, whole.slice(0, 4))
        yield* turn
        yield* save(4, third)
        yield* save(4, third)
        assert.deepStrictEqual((yield* readTranscript(part(4)))?.messages, yield* said)
      })
    )
  )

  it.effect("begins at the first message that is not what it was when it was saved", () =>
    run(
      Effect.gen(function* () {
        const { part, said, save, turn } = yield* scene
        const { transcripts } = yield* Broker
        yield* turn
        const first = yield* save(1)
        yield* turn
        const [prompt] = yield* said
        const earlier = { messages: [prompt, { id: "x", role: "assistant", content: [] }], savedAt: "" }
        yield* transcripts.put(part(1), JSON.stringify(earlier))
        yield* save(2, { ...first, digest: "of something else" })
        assert.deepStrictEqual((yield* readTranscript(part(2)))?.messages, yield* said)
        assert.deepStrictEqual((yield* readTranscript(part(2)))?.objects, [part(2), part(1)])
      })
    )
  )

  it.effect("writes nothing where nothing is new, or where the runtime has lost the session", () =>
    run(
      Effect.gen(function* () {
        const { object, part, save, turn } = yield* scene
        const { transcripts } = yield* Broker
        yield* turn
        const first = yield* save(1)
        yield* save(2, first)
        yield* save(3, first, { lost: true })
        assert.deepStrictEqual(yield* transcripts.list(object), [part(1)])
      })
    )
  )

  it.effect("is tried again without its runtime, and then left to the next save", () =>
    run(
      Effect.gen(function* () {
        const { object, save } = yield* scene
        const { transcripts } = yield* Broker
        assert.isTrue(Result.isFailure(yield* Effect.result(save(1, undefined, { delivery: 1 }))))
        yield* save(1, undefined, { delivery: 4 })
        assert.deepStrictEqual(yield* transcripts.list(object), [])
      })
    )
  )

  it.effect("is read from the archive once its parts are removed", () =>
    run(
      Effect.gen(function* () {
        const { object, part, said, save, turn } = yield* scene
        const { transcripts } = yield* Broker
        yield* turn
        const first = yield* save(1)
        yield* turn
        yield* save(2, first)
        const messages = yield* said
        yield* transcripts.put(object, JSON.stringify({ messages, savedAt: "" }))
        yield* transcripts.remove(part(1))
        assert.deepStrictEqual((yield* readTranscript(part(2)))?.messages, messages)
        yield* transcripts.remove(object)
        assert.isUndefined(yield* readTranscript(part(2)))
      })
    )
  )
})

describe("a turn that lasts", () => {
  const control = new MemoryControl()
  const working: MemoryScript = () => [{ tool: "look-for-the-cause" }, { hold: "work" }, { say: goodReport }]

  it.live("is saved while its agent works, since its host may not come back", () =>
    Effect.gen(function* () {
      const { transcripts } = yield* Broker
      const { awaitEvent, send } = yield* stage
      yield* send(newTurn(1, { host: Host.make("local") }))
      yield* control.reached("work")
      const said = Effect.gen(function* () {
        const [newest] = (yield* transcripts.list("session/")).toReversed()
        const saved = newest === undefined ? undefined : yield* readTranscript(newest)
        return JSON.stringify(saved?.messages ?? [])
      })
      yield* Effect.repeat(said, {
        until: (text) => text.includes("look-for-the-cause"),
        schedule: Schedule.spaced("5 millis")
      })
      yield* control.release("work")
      yield* awaitEvent("TurnCompleted")
      yield* Effect.repeat(said, { until: (text) => text.includes("complete"), schedule: Schedule.spaced("5 millis") })
    }).pipe(Effect.provide(inMemory(working, { control, settings: { saveEvery: Duration.millis(10) } })))
  )
})
