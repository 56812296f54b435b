/** Arguments and flags that several commands share, and lazy handlers: help and usage errors load no command. */
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

export const jsonFlag = Flag.Boolean("json").pipe(Flag.withDescription("Print data as JSON"), Flag.withDefault(false))
export const natsFlag = Flag.String("nats").pipe(
  Flag.withDescription("URL of a NATS server to use instead of the embedded one"),
  Flag.optional
)
/** A flag without a value, off by default. */
export const switchFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))
/** How much of the progress is shown. */
export const progressFlags = {
  quiet: Flag.Boolean("quiet").pipe(
    Flag.withAlias("q"),
    Flag.withDescription("Show only questions and results"),
    Flag.withDefault(false)
  ),
  verbose: Flag.Boolean("verbose").pipe(
    Flag.withAlias("v"),
    Flag.withDescription("Show everything that agents write"),
    Flag.withDefault(false)
  )
}
export const noInputFlag = Flag.Boolean("no-input").pipe(
  Flag.withDescription("Never prompt: park and exit 4 when a human is needed"),
  Flag.withDefault(false)
)
export const plainFlag = Flag.Boolean("plain").pipe(
  Flag.withDescription("Ask questions line by line, not on the full screen"),
  Flag.withDefault(false)
)
export const runtimeFlag = Flag.Literals("runtime", ["opencode", "claude"]).pipe(
  Flag.withDescription("Agent runtime to use"),
  Flag.optional
)
export const modelFlag = Flag.String("model").pipe(
  Flag.withDescription("Model to use, as provider/model"),
  Flag.optional
)
export const planArgument = Argument.String("PLAN").pipe(Argument.withDescription("Path of the plan, a markdown file"))
export const runIdArgument = Argument.String("RUN").pipe(Argument.withDescription("Id of a run; see 'reprise status'"))
export const runArgument = Argument.String("RUN").pipe(
  Argument.withDescription("Id of a run, or 'latest'; see 'reprise status'")
)
/** Without it, the only open run is meant. */
export const onlyRunArgument = Argument.String("RUN").pipe(
  Argument.withDescription("Id of a run, or 'latest'; default: the only open one"),
  Argument.optional
)
export const sessionArgument = (name: string) =>
  Argument.String(name).pipe(Argument.withDescription("Id of a session; see 'reprise sessions list'"))

/** `--reason`, kept with the run or session. */
export const reasonFlag = (what: string) =>
  Flag.String("reason").pipe(Flag.withDescription(`Recorded with the ${what}`), Flag.withDefault("aborted by the user"))

/** Loads a command's module when the command is called. */
export const lazily =
  <Flags, Module, A, E, R>(
    load: () => Promise<Module>,
    call: (module: Module, flags: Flags) => Effect.Effect<A, E, R>
  ) =>
  (flags: Flags): Effect.Effect<A, E, R> =>
    Effect.promise(load).pipe(Effect.flatMap((module) => call(module, flags)))
