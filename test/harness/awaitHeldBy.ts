import { Effect } from "effect"
import type { Command } from "./Command.ts"
import type { World } from "./World.ts"

/** Waits until a reply to the command's agents is held. Dies with its output if it ends first: no reply is held then. */
export const awaitHeldBy = (world: World, command: Command, name: string): Effect.Effect<void> =>
  Effect.raceFirst(
    world.model.awaitHeld(name),
    Effect.flatMap(command.ended, ({ code, stderr, stdout }) =>
      Effect.die(new Error(`ended (${code}) before a reply was held at ${name}:\n${stdout}\n${stderr}`))
    )
  )
