/** What the agents of a memory runtime do, and how a test controls them. */
import type { RuntimeName, Tokens } from "@reprise/protocol"
import { Effect, Latch } from "effect"
import type { AgentErrorKind } from "../AgentError.ts"

/** One thing that an agent does in a turn. */
export type MemoryStep =
  /** Ends the turn with this text. */
  | { readonly say: string; readonly tokens?: Partial<Tokens> }
  /** Uses a tool; with `ask`, a session not in mode `all` asks for permission first. */
  | { readonly tool: string; readonly output?: string; readonly ask?: string }
  /** Wants to do something that this rule refuses. */
  | { readonly refused: string; readonly rule: string }
  | { readonly question: string; readonly options: ReadonlyArray<string> }
  /** Waits until the test releases this name. */
  | { readonly hold: string }
  /** Ends the turn with a failure. */
  | { readonly fail: AgentErrorKind; readonly message: string; readonly retryAfterMs?: number }
  /** The vendor fails and the runtime tries again by itself. */
  | { readonly hiccup: string }

/** What the script knows about a turn. */
export interface MemoryTurn {
  readonly sessionId: string
  readonly text: string
  /** User messages in the session, this one included. */
  readonly turn: number
  /** How often this prompt was started, from 1: more than once after a crash or a failure. */
  readonly attempt: number
}

export type MemoryScript = (turn: MemoryTurn) => ReadonlyArray<MemoryStep>

export interface MemoryOptions {
  readonly script: MemoryScript
  /** The name that it has. Default: opencode. */
  readonly name?: RuntimeName
  /** Default: a control that the test has no access to. */
  readonly control?: MemoryControl
}

/** Lets a test control a memory runtime. */
export class MemoryControl {
  readonly #points = new Map<string, { readonly gate: Latch.Latch; readonly reached: Latch.Latch }>()
  readonly #crashes = new Set<Effect.Effect<void>>()
  #modelCalls = 0

  #point(name: string) {
    const point = this.#points.get(name) ?? { gate: Latch.makeUnsafe(), reached: Latch.makeUnsafe() }
    this.#points.set(name, point)
    return point
  }

  /** How many model calls were made. */
  readonly modelCalls: Effect.Effect<number> = Effect.sync(() => this.#modelCalls)

  /** Releases every turn that waits at this name, now and later. */
  release(name: string): Effect.Effect<void> {
    return Effect.suspend(() => Effect.asVoid(this.#point(name).gate.open))
  }

  /** Completes when a turn waits at this name. */
  reached(name: string): Effect.Effect<void> {
    return Effect.suspend(() => this.#point(name).reached.await)
  }

  /** Cuts off all turns as the runtime's death would; sessions are kept. */
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
