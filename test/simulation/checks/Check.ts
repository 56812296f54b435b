/** A check looks at a story that is over, and says what in it is wrong. */
import type { BrokerShape, Bucket } from "@reprise/actor"
import type { AgentRuntimeShape } from "@reprise/agent"
import type { Effect } from "effect"
import type { Agents } from "../parts/agents.ts"
import type { Human } from "../parts/human.ts"
import type { Progress } from "../parts/Progress.ts"
import type { Record } from "../parts/Record.ts"
import type { Repository } from "../parts/Repository.ts"
import type { SimulatedRuntime } from "../parts/runtime.ts"
import type { Actors } from "../parts/services.ts"
import type { Fault } from "../world/faults.ts"
import type { World } from "../world/World.ts"
import type { Histories } from "./histories.ts"

/** What the broker kept. */
export interface Kept extends Pick<BrokerShape, "read"> {
  readonly views: Pick<Bucket, "list">
  readonly snapshots: Pick<Bucket, "list">
}

/** What checks look at: of a simulated story, or of one on a real broker. */
export interface Evidence {
  readonly world: World
  readonly record: Record["stored"]
  readonly actors: Actors
  readonly agents: Pick<Agents, "seen" | "byHand" | "tasks">
  readonly human: Pick<Human, "words" | "prompts">
  readonly runtime: Pick<SimulatedRuntime, "directories" | "promptIds">
  /** By their directories. */
  readonly repositories: ReadonlyMap<string, Repository>
  readonly progress: Pick<Progress, "states">
  /** Why it did not come to rest; undefined: it did. */
  readonly unrest: string | undefined
  readonly happened: ReadonlyArray<Fault>
  readonly startMs: number
  /** Asks the agents' runtime, as it is now. */
  readonly inspect: <A, E>(effect: (runtime: AgentRuntimeShape) => Effect.Effect<A, E>) => A
  /** Reads what the broker has, as it is now. */
  readonly read: <A, E>(effect: (kept: Kept) => Effect.Effect<A, E>) => A
}

export interface Violation {
  readonly check: string
  readonly detail: string
}

/** Gives what is wrong, in a sentence each. */
export type Check = (story: Evidence, histories: Histories) => ReadonlyArray<string>
