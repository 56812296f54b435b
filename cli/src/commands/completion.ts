/** `reprise completion SHELL`: a script generated from the commands themselves. */
import * as Context from "effect/Context"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import { data, okJson } from "../terminal/Printer.ts"
import { jsonFlag } from "./shared.ts"

/** The whole command line, which contains this command: `main` provides it. */
export class CommandTree extends Context.Service<CommandTree, Completions.CommandDescriptor>()("cli/CommandTree") {}

/** The generated script says which command made it, but names a flag that this command line does not have. */
const foreignCall = /reprise --completions \w+/g

export const completion = Command.make(
  "completion",
  {
    shell: Argument.Literals("SHELL", ["bash", "zsh", "fish"]).pipe(Argument.withDescription("bash, zsh or fish")),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, shell }) {
    const commands = yield* CommandTree
    const generated = Completions.generate("reprise", shell, commands)
    const script = generated.replaceAll(foreignCall, `reprise completion ${shell}`)
    if (json) okJson({ shell, script })
    else data(script)
  })
).pipe(Command.withDescription("Print a completion script for a shell"))
