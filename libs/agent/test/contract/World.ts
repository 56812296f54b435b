/** What a contract test needs besides the runtime: a place to work, and hands on the model and the runtime's life. */
import { Context, Effect, type Scope, Stream } from "effect"
import type { Message, RuntimeEvent } from "../../src/index.ts"
import { AgentRuntime, type PromptIds, promptIds } from "../../src/index.ts"

/** Names that a prompt can be held at: one for each test that holds. */
export const holds = ["join", "busy", "abort", "crash", "first", "both", "events", "limit", "fork"] as const
export type HoldName = (typeof holds)[number]

/**
 * The agents of a world understand: `say WORDS`; `turn number`; `hold NAME`, which says `released`; `run COMMAND`, a
 * shell command, which says `ran`; `choose`, a question, which says `chosen`; `unauthorized`; `limited`, which is
 * served the second time; `drop`, whose first answer breaks off.
 */
export class World extends Context.Service<
  World,
  {
    readonly directory: string
    readonly modelCalls: Effect.Effect<number>
    readonly release: (name: HoldName) => Effect.Effect<void>
    readonly reached: (name: HoldName) => Effect.Effect<void>
    /** Kills the runtime. */
    readonly crash: Effect.Effect<void>
  }
>()("agent/test/World") {}

let counter = 0
/** Ids that no other prompt has. */
export const newIds = (): PromptIds => promptIds(Date.now(), `contract ${process.pid}`, counter++)

export const newSession = Effect.fnUntraced(function* (permissions: "ask" | "workspace" | "all" = "all") {
  const { directory } = yield* World
  const runtime = yield* AgentRuntime
  return yield* runtime.create({ directory, title: "contract", permissions })
})

/** A copy as its own tests want it. */
export const forkOf = Effect.fnUntraced(function* (runtimeSessionId: string, permissions: "ask" | "all" = "all") {
  const { directory } = yield* World
  return { runtimeSessionId, directory, title: "contract", permissions }
})

export const textOf = ({ content }: Message): string =>
  content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")

export const say = Effect.fnUntraced(function* (runtimeSessionId: string, text: string, promptId = newIds()) {
  const { directory } = yield* World
  const runtime = yield* AgentRuntime
  return yield* runtime.prompt({ runtimeSessionId, directory, promptId, text })
})

/** How many times the model is asked meanwhile. */
export const countingCalls = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const world = yield* World
  const before = yield* world.modelCalls
  const result = yield* effect
  return { result, calls: (yield* world.modelCalls) - before }
})

/** The events from now on. */
export const recordEvents: Effect.Effect<ReadonlyArray<RuntimeEvent>, never, AgentRuntime | Scope.Scope> = Effect.gen(
  function* () {
    const seen: Array<RuntimeEvent> = []
    const runtime = yield* AgentRuntime
    yield* runtime.events.pipe(
      Stream.runForEach((event) => Effect.sync(() => void seen.push(event))),
      Effect.forkScoped({ startImmediately: true })
    )
    return seen
  }
)

export const waitUntil = <A, E, R>(look: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    for (;;) {
      const found = yield* look
      if (found !== undefined) return found
      yield* Effect.sleep("20 millis")
    }
  })

/** The first event, past or to come, for which the condition holds. */
export const awaitEvent = <E extends RuntimeEvent>(
  seen: ReadonlyArray<RuntimeEvent>,
  is: (event: RuntimeEvent) => event is E
) => waitUntil(Effect.sync(() => seen.find(is)))

export const userMessages = Effect.fnUntraced(function* (id: string) {
  const runtime = yield* AgentRuntime
  return (yield* runtime.history(id)).filter((message) => message.role === "user").length
})

export const prompting = (event: RuntimeEvent): event is Extract<RuntimeEvent, { type: "prompting" }> =>
  event.type === "prompting"
