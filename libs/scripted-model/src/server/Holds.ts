import { Effect, Latch } from "effect"

interface HeldPoint {
  readonly gate: Latch.Latch
  readonly reached: Latch.Latch
}

/** Named points at which replies wait until a test releases them. */
export class Holds {
  readonly #points = new Map<string, HeldPoint>()

  #point(name: string): HeldPoint {
    const point = this.#points.get(name) ?? { gate: Latch.makeUnsafe(), reached: Latch.makeUnsafe() }
    this.#points.set(name, point)
    return point
  }

  /** Waits at the point until it is released. */
  wait(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { gate, reached } = this.#point(name)
      return Effect.andThen(reached.open, gate.await)
    })
  }

  /** Lets the replies that wait at the point go on, and those that come later pass. */
  release(name: string): Effect.Effect<void> {
    return Effect.suspend(() => Effect.asVoid(this.#point(name).gate.open))
  }

  /** Completes once a reply has come to the point. */
  reached(name: string): Effect.Effect<void> {
    return Effect.suspend(() => this.#point(name).reached.await)
  }

  /** Closes a released point: the next reply waits there, and `reached` waits for that reply. */
  rearm(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { gate, reached } = this.#point(name)
      return Effect.asVoid(Effect.andThen(gate.close, reached.close))
    })
  }
}
