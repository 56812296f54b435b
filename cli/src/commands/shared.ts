/** Flags that several commands share, and lazy handlers: help and mistakes cost no more than parsing. */

import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

export const jsonFlag = Flag.Boolean("json").pipe(Flag.withDescription("Print data as JSON"), Flag.withDefault(false))
export const natsFlag = Flag.String("nats").pipe(
  Flag.withDescription("URL of a NATS server to use instead of the embedded one"),
  Flag.optional
)
export const planArgument = Argument.String("PLAN").pipe(Argument.withDescription("Path of the plan, a markdown file"))
export const runArgument = Argument.String("RUN").pipe(Argument.withDescription("Id of a run; see 'reprise status'"))

/** Loads a command's module when the command is called. */
export const lazily =
  <Flags, Module, A, E, R>(
    load: () => Promise<Module>,
    call: (module: Module, flags: Flags) => Effect.Effect<A, E, R>
  ) =>
  (flags: Flags): Effect.Effect<A, E, R> =>
    Effect.promise(load).pipe(Effect.flatMap((module) => call(module, flags)))
