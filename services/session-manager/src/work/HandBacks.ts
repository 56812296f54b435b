/** The sessions of this host that their humans leave, for whoever waits there for what they might say next. */
import { Context, Effect, Layer, PubSub, Stream } from "effect"

const make = Effect.map(PubSub.unbounded<string>(), (hub) => {
  const all = Stream.fromPubSub(hub)
  return HandBacks.of({
    announce: (key) => Effect.asVoid(PubSub.publish(hub, key)),
    all,
    of: (key) =>
      all.pipe(
        Stream.filter((left) => left === key),
        Stream.take(1),
        Stream.runDrain
      )
  })
})

export class HandBacks extends Context.Service<
  HandBacks,
  {
    readonly announce: (key: string) => Effect.Effect<void>
    /** The keys of sessions, as they are left from now on. */
    readonly all: Stream.Stream<string>
    /** Ends when this session is left the next time. */
    readonly of: (key: string) => Effect.Effect<void>
  }
>()("session-manager/HandBacks") {
  static readonly layer = Layer.effect(HandBacks, make)
}
