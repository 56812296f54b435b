/** `reprise completion SHELL`: a script generated from the commands themselves. */
import * as Context from "effect/Context"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import { data, okJson } from "../terminal/Printer.ts"

/** The whole command line, which holds the command that asks for it: `main` provides it. */
export class CommandTree extends Context.Service<CommandTree, Completions.CommandDescriptor>()("cli/CommandTree") {}

/** How the generator tells its user to call it: by a flag that this command line has not. */
const foreignCall = /reprise --completions \w+/g

export const completion = Effect.fnUntraced(function* (flags: {
  readonly shell: Completions.Shell
  readonly json: boolean
}) {
  const { shell } = flags
  const commands = yield* CommandTree
  const script = Completions.generate("reprise", shell, commands).replaceAll(foreignCall, `reprise completion ${shell}`)
  if (flags.json) okJson({ shell, script })
  else data(script)
})
