/** `reprise completion SHELL`: a script generated from the commands themselves. */
import * as Context from "effect/Context"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import { idKinds } from "../terminal/idKinds.ts"
import { okJson, rawData } from "../terminal/Printer.ts"
import { jsonFlag, lazily } from "./shared.ts"
import { argumentKinds, withIds, withPlaceholder } from "./shellIds.ts"

/** The whole command line, which contains this command: `main` provides it. */
export class CommandTree extends Context.Service<CommandTree, Completions.CommandDescriptor>()("cli/CommandTree") {}

/** The generated script says which command made it, but names a flag that this command line does not have. */
const foreignCall = /reprise --completions \w+/g

/** Arguments and flags that name a file or a folder. The parser takes them as text, so that messages repeat them as typed. */
const paths: ReadonlyMap<string, "file" | "directory"> = new Map([
  ["PLAN", "file"],
  ["DIR", "directory"],
  ["directory", "directory"]
])

const withPath = <Typed extends Completions.ArgumentDescriptor | Completions.FlagDescriptor>(typed: Typed): Typed => {
  const pathType = paths.get(typed.name)
  return pathType === undefined ? typed : { ...typed, type: { _tag: "Path", pathType } }
}

interface Place {
  readonly shell: Completions.Shell
  /** The words of the command. */
  readonly words: ReadonlyArray<string>
}

const offeredArgument = ({ shell, words }: Place, argument: Completions.ArgumentDescriptor, index: number) => {
  const typed = withPath(argument)
  return shell === "zsh" ? withPlaceholder(words, typed, index) : typed
}

/** What a shell offers: paths where paths are meant, ids where ids are, and no flag that only takes another one back. */
const offered = (command: Completions.CommandDescriptor, place: Place): Completions.CommandDescriptor => ({
  ...command,
  flags: command.flags.map((flag) => ({ ...withPath(flag), negation: false })),
  // Fish would offer every file beside the plans.
  arguments:
    place.shell === "fish" && isPlan(place.words)
      ? []
      : command.arguments.map((one, index) => offeredArgument(place, one, index)),
  subcommands: command.subcommands.map((one) => offered(one, { ...place, words: [...place.words, one.name] }))
})

const isPlan = (words: ReadonlyArray<string>): boolean => argumentKinds.get(words.join(" ")) === "plan"

export const completionScript = (shell: Completions.Shell, commands: Completions.CommandDescriptor): string => {
  const script = Completions.generate("reprise", shell, offered(commands, { shell, words: [] }))
  return withIds(shell, script.replaceAll(foreignCall, `reprise completion ${shell}`), commands)
}

export const completion = Command.make(
  "completion",
  {
    shell: Argument.Literals("SHELL", ["bash", "zsh", "fish"]).pipe(Argument.withDescription("bash, zsh or fish")),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, shell }) {
    const commands = yield* CommandTree
    const script = completionScript(shell, commands)
    if (json) okJson({ shell, script })
    else rawData(script)
  })
).pipe(Command.withDescription("Print a completion script for a shell"))

/** Asked by the scripts, for people to choose from. */
export const complete = Command.make(
  "complete",
  { kind: Argument.Literals("KIND", idKinds) },
  lazily(
    () => import("../flows/inspect/ids.ts"),
    (module, flags) => module.printIds(flags)
  )
).pipe(Command.withDescription("Print ids for a shell's completion"), Command.unlisted)
