/** The git operations that a workspace needs. */
import { Context, Effect, Layer } from "effect"
import { type CommitCommands, commitCommands } from "./commitCommands.ts"
import { makeWorkingTreeCommands, type WorkingTreeCommands } from "./workingTreeCommands.ts"

export class Git extends Context.Service<Git, CommitCommands & WorkingTreeCommands>()("workspace/Git") {
  static readonly layer = Layer.effect(
    Git,
    Effect.map(makeWorkingTreeCommands, (workingTreeCommands) => Git.of({ ...commitCommands, ...workingTreeCommands }))
  )
}
