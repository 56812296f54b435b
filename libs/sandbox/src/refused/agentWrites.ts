/** What a tool of an agent that runs inside as a whole said of files that it may not write. */
import { realpath } from "node:fs/promises"
import type { Role } from "@reprise/protocol"
import { Effect } from "effect"
import { agentKeyOf, type Host, keyOf } from "../SandboxHost.ts"
import type { RefusedWrite } from "./decider.ts"
import { refusedPathsIn } from "./refusedPaths.ts"
import { lookAtRefused } from "./refusedWrites.ts"

/** An agent that `agentProgram` prepared a program for. */
export interface PreparedAgent {
  /** Where its sessions work. */
  readonly directory: string
  readonly role: Role
  /** Tells its programs from those of other agents. */
  readonly name: string
}

/** What a tool said. */
export interface ToolWords {
  readonly text: string
  readonly failed: boolean
}

/** Decides about each of the files, as for a command. Gives the places in which it may write from its next start on. */
export const openedByWords = Effect.fn("Sandbox.openedByWords")(
  (host: Host, { directory, name, role }: PreparedAgent, { failed, text }: ToolWords) =>
    Effect.promise(async (): Promise<ReadonlyArray<string>> => {
      const workspace = await realpath(directory).catch(() => directory)
      const held = host.policies.get(agentKeyOf(name, role, workspace))
      const decider = host.deciders.get(keyOf("agent", workspace))?.at(-1)
      if (held === undefined || decider === undefined) return []
      const opened: Array<string> = []
      for (const path of refusedPathsIn(text)) {
        const found = await lookAtRefused(path, held.policy, held.around)
        if (found === undefined) continue
        const refused: RefusedWrite = { ...found, failed }
        if ((await decider.write(refused)) === "allowed" && found.place !== undefined) opened.push(found.place)
      }
      return opened
    })
)
