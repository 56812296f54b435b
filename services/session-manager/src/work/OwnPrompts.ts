/**
 * Our own prompts on this host: those under way, which an abort or an interruption must stop, and the ids of those before, by which our
 * activity is told from a human's.
 */
import type { RuntimeId } from "@reprise/protocol"
import { Clock, Context, Deferred, Effect, Layer, type Scope } from "effect"

export interface OwnPrompt {
  readonly runtimeSessionId: RuntimeId
  readonly messageId: string
}

interface Entry extends OwnPrompt {
  readonly interrupted: Deferred.Deferred<void>
  readonly ended: Deferred.Deferred<void>
}

/** More than the prompts of a day on one host. */
const kept = 10_000

const forgetOldest = (of: Set<string> | Map<string, unknown>) => {
  for (const oldest of of.keys()) {
    if (of.size <= kept) return
    of.delete(oldest)
  }
}

const make = Effect.sync(() => {
  const live = new Set<Entry>()
  const ours = new Set<string>()
  const lastEndedAt = new Map<string, number>()

  const remember = (messageId: string) => {
    ours.delete(messageId)
    ours.add(messageId)
    forgetOldest(ours)
  }

  const used = (runtimeSessionId: RuntimeId, atMs: number) => {
    lastEndedAt.delete(runtimeSessionId)
    lastEndedAt.set(runtimeSessionId, atMs)
    forgetOldest(lastEndedAt)
  }

  const leave = Effect.fnUntraced(function* (entry: Entry) {
    live.delete(entry)
    used(entry.runtimeSessionId, yield* Clock.currentTimeMillis)
    yield* Deferred.succeed(entry.ended, undefined)
  })

  const enter = Effect.fnUntraced(function* (prompt: OwnPrompt) {
    const interrupted = yield* Deferred.make<void>()
    const entry: Entry = { ...prompt, interrupted, ended: yield* Deferred.make<void>() }
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        remember(prompt.messageId)
        live.add(entry)
      }),
      () => leave(entry)
    )
    return Deferred.await(interrupted)
  })

  const interrupt = (runtimeSessionId: RuntimeId) =>
    Effect.forEach(
      [...live].filter((entry) => entry.runtimeSessionId === runtimeSessionId),
      (entry) => Deferred.succeed(entry.interrupted, undefined).pipe(Effect.andThen(Deferred.await(entry.ended))),
      { discard: true }
    )

  return OwnPrompts.of({
    enter,
    interrupt,
    remember: (messageId, runtimeSessionId, usedMs) =>
      Effect.sync(() => {
        remember(messageId)
        if (!lastEndedAt.has(runtimeSessionId)) used(runtimeSessionId, usedMs)
      }),
    isOurs: (messageId) => ours.has(messageId),
    isLive: (runtimeSessionId) => [...live].some((entry) => entry.runtimeSessionId === runtimeSessionId),
    lastEndedAt: (runtimeSessionId) => lastEndedAt.get(runtimeSessionId)
  })
})

export class OwnPrompts extends Context.Service<
  OwnPrompts,
  {
    /** The prompt is under way until the scope closes. The effect it gives ends when the prompt is to stop. */
    readonly enter: (prompt: OwnPrompt) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
    /** Stops the runtime session's prompts in this process, and waits until they have ended. */
    readonly interrupt: (runtimeSessionId: RuntimeId) => Effect.Effect<void>
    /**
     * A prompt of an earlier process, whose session was last used at that time (epoch milliseconds), or somebody else's
     * that was answered in our turn.
     */
    readonly remember: (messageId: string, runtimeSessionId: RuntimeId, usedMs: number) => Effect.Effect<void>
    readonly isOurs: (messageId: string) => boolean
    readonly isLive: (runtimeSessionId: RuntimeId) => boolean
    /** When our newest prompt in this session ended, in epoch milliseconds. */
    readonly lastEndedAt: (runtimeSessionId: RuntimeId) => number | undefined
  }
>()("session-manager/OwnPrompts") {
  static readonly layer = Layer.effect(OwnPrompts, make)
}
