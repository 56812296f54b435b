/** `reprise completion SHELL`: a script generated from the commands themselves. */
import { Effect } from "effect"
import { type Command, Completions } from "effect/cli"
import { data } from "../Printer.ts"

export const completion = (root: Command.Command.Any, shell: Completions.Shell): Effect.Effect<void> =>
  Effect.sync(() => data(Completions.generate("reprise", shell, Completions.fromCommand(root))))
