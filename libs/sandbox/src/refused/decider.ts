/** Who decides about what the sandbox refuses to the commands of a workspace. */
import type { Target } from "../network/hosts.ts"

/** A file or folder that a command wanted to write, as it said itself. */
export interface RefusedWrite {
  readonly path: string
  /** The existing file or folder that would have to be allowed; absent: nobody may be asked about it. */
  readonly place?: string
  /** Whether the command failed; one that did without needs no answer. */
  readonly failed: boolean
}

export interface Decider {
  /** Whether a command may reach a name; it waits. */
  readonly reach: (target: Target) => Promise<boolean>
  /** The command has ended, and its agent waits. `told`: nobody was asked. */
  readonly write: (refused: RefusedWrite) => Promise<"allowed" | "rejected" | "told">
}

/** Whose commands: those of the agents of a workspace, or of its quality gates. */
export type Whose = "agent" | "gate"
