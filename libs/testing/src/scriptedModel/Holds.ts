import { Effect, Latch } from "effect"

interface HeldPoint {
  readonly gate: Latch.Latch
  readonly reached: Latch.Latch
}

/** Named points at which answers wait until a test lets them go on. */
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

  /** Lets everyone at the point go on, now and later. */
  release(name: string): Effect.Effect<void> {
    return Effect.suspend(() => Effect.asVoid(this.#point(name).gate.open))
  }

  /** Completes once a call has come to the point. */
  reached(name: string): Effect.Effect<void> {
    return Effect.suspend(() => this.#point(name).reached.await)
  }

  /** Closes the point again: the next call waits, and `reached` waits for it. */
  rearm(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { gate, reached } = this.#point(name)
      return Effect.asVoid(Effect.andThen(gate.close, reached.close))
    })
  }
}
