/** What the agents of a runtime in memory do, and how a test steers them. */
import type { RuntimeName, Tokens } from "@reprise/protocol"
import { Effect, Latch } from "effect"
import type { AgentErrorKind } from "../AgentError.ts"

/** One thing that an agent does in a turn. */
export type MemoryStep =
  /** Ends the turn with this text. */
  | { readonly say: string; readonly tokens?: Partial<Tokens> }
  /** Uses a tool; with `ask`, a session that may not do everything asks first. */
  | { readonly tool: string; readonly output?: string; readonly ask?: string }
  | { readonly question: string; readonly options: ReadonlyArray<string> }
  /** Waits until a test releases the name. */
  | { readonly hold: string }
  /** Ends the turn with a failure. */
  | { readonly fail: AgentErrorKind; readonly message: string; readonly retryAfterMs?: number }
  /** The vendor fails and the runtime tries again by itself. */
  | { readonly hiccup: string }

/** What the script is told of a turn. */
export interface MemoryTurn {
  readonly sessionId: string
  readonly text: string
  /** User messages in the session, this one included. */
  readonly turn: number
  /** How often this very prompt has been begun, from 1: more than once after a crash or a failure. */
  readonly attempt: number
}

export type MemoryScript = (turn: MemoryTurn) => ReadonlyArray<MemoryStep>

export interface MemoryOptions {
  readonly script: MemoryScript
  /** What it passes for. Default: opencode. */
  readonly name?: RuntimeName
  /** Default: one that nobody holds. */
  readonly control?: MemoryControl
}

/** A test's hands on a runtime in memory. */
export class MemoryControl {
  readonly #points = new Map<string, { readonly gate: Latch.Latch; readonly reached: Latch.Latch }>()
  readonly #crashes = new Set<Effect.Effect<void>>()
  #modelCalls = 0

  #point(name: string) {
    const point = this.#points.get(name) ?? { gate: Latch.makeUnsafe(), reached: Latch.makeUnsafe() }
    this.#points.set(name, point)
    return point
  }

  /** How often a model was asked. */
  readonly modelCalls: Effect.Effect<number> = Effect.sync(() => this.#modelCalls)

  /** Lets every turn at the hold of this name go on, now and later. */
  release(name: string): Effect.Effect<void> {
    return Effect.suspend(() => Effect.asVoid(this.#point(name).gate.open))
  }

  /** Completes once a turn has come to the hold of this name. */
  reached(name: string): Effect.Effect<void> {
    return Effect.suspend(() => this.#point(name).reached.await)
  }

  /** Ends everything that runs as the runtime's death would: sessions stay, turns are cut off. */
  readonly crash: Effect.Effect<void> = Effect.suspend(() => Effect.all([...this.#crashes], { discard: true }))

  /** Used by the runtime. */
  hold(name: string): Effect.Effect<void> {
    return Effect.suspend(() => Effect.andThen(this.#point(name).reached.open, this.#point(name).gate.await))
  }
  /** Used by the runtime. */
  onCrash(crash: Effect.Effect<void>): void {
    this.#crashes.add(crash)
  }
  /** Used by the runtime. */
  countCall(): void {
    this.#modelCalls++
  }
}
