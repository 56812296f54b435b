/** Every command with its arguments, flags, defaults and examples, from the command line itself. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Option, Predicate, Result } from "effect"
import { type Command, Completions, Param } from "effect/cli"
import { root } from "../../cli/src/commands/root.ts"
import { exitCodes } from "../../cli/src/terminal/exitCodes.ts"
import { code, generated, page, table } from "./markdown.ts"

const meanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: "Done.",
  runFailed: "The run failed.",
  wrongUse: "Usage error: a wrong argument, flag or plan, or an answer that was refused.",
  missing: "Something that the command needs is missing or broken. `reprise doctor` says what.",
  waiting: "The run waits for a human, or was paused. It is parked; nothing is lost.",
  aborted: "The run was aborted.",
  interrupted: "Ctrl-C (SIGINT). The run is parked, not aborted.",
  terminated: "SIGTERM or SIGHUP. The run is parked, not aborted."
}

const global = table(
  ["flag", "does"],
  [
    ["`--help`, `-h`", "shows the help of a command"],
    ["`--version`, `-v`", "shows the version"],
    ["`--debug`", "shows where an error happened"]
  ]
)

/** The value of a flag that is not on the command line. */
const defaultOf = (flag: Param.Param<Param.ParamKind, unknown>) =>
  Effect.result(flag.parse({ flags: {}, arguments: [] })).pipe(
    Effect.map((parsed) => {
      if (Result.isFailure(parsed)) return "required"
      const [, value] = parsed.success
      if (Option.isOption(value) || value === undefined) return ""
      return value === false ? "off" : code(String(value))
    })
  )

/** The defaults of a command's own flags, by name: both lists are in the order in which they were declared. */
const defaultsOf = Effect.fnUntraced(function* (
  command: Command.Command.Any,
  described: ReadonlyArray<Completions.FlagDescriptor>
) {
  const { config } = Predicate.hasProperty(command, "config") ? command : { config: undefined }
  const flags = Predicate.hasProperty(config, "flags") && Array.isArray(config.flags) ? config.flags : []
  const defaults = yield* Effect.forEach(flags.filter(Param.isParam), defaultOf)
  return new Map(described.map(({ name }, index) => [name, defaults[index] ?? "unknown"]))
})

const flagValue = (type: Completions.FlagType): string => {
  if (type._tag === "Boolean") return ""
  return type._tag === "Choice" ? ` ${type.values.join("|")}` : type._tag === "Int" ? " N" : " TEXT"
}

const usage = (path: ReadonlyArray<string>, { arguments: args, flags }: Completions.CommandDescriptor): string =>
  [
    ...path,
    ...args.map(({ name, required }) => (required ? name : `[${name}]`)),
    ...(flags.length > 0 ? ["[flags]"] : [])
  ].join(" ")

const flagTable = (flags: ReadonlyArray<Completions.FlagDescriptor>, defaults: ReadonlyMap<string, string>): string =>
  flags.length === 0
    ? ""
    : table(
        ["flag", "default", "does"],
        flags.map(({ description, name, type }) => [
          code(`--${name}${flagValue(type)}`),
          defaults.get(name) ?? "",
          description ?? ""
        ])
      )

const argumentTable = (args: ReadonlyArray<Completions.ArgumentDescriptor>): string =>
  args.length === 0
    ? ""
    : table(
        ["argument", "is"],
        args.map(({ description, name, required }) => [
          code(name),
          `${description ?? ""}${required ? "" : " (optional)"}`
        ])
      )

const exampleBlock = (examples: ReadonlyArray<Command.Command.Example>): string =>
  examples.length === 0
    ? ""
    : `\`\`\`sh\n${examples.map((example) => `# ${example.description ?? ""}\n${example.command}`).join("\n")}\n\`\`\``

const section = (
  path: ReadonlyArray<string>,
  command: Command.Command.Any,
  descriptor: Completions.CommandDescriptor
): Effect.Effect<ReadonlyArray<string>, unknown, Command.Environment> =>
  Effect.gen(function* () {
    const children = command.subcommands.flatMap(({ commands }) => commands).filter(({ unlisted }) => !unlisted)
    const below = yield* Effect.forEach(children, (child) => {
      const described = descriptor.subcommands.find(({ name }) => name === child.name)
      return described === undefined ? Effect.succeed([]) : section([...path, child.name], child, described)
    })
    const isGroup = descriptor.flags.length === 0 && descriptor.arguments.length === 0 && children.length > 0
    const own = isGroup
      ? []
      : [
          `## ${path.join(" ")}`,
          `${command.description ?? ""}.`,
          code(usage(path, descriptor)),
          argumentTable(descriptor.arguments),
          flagTable(descriptor.flags, yield* defaultsOf(command, descriptor.flags)),
          exampleBlock(command.examples)
        ]
    return [...own, ...below.flat()]
  })

export const commandsPage: Effect.Effect<string, unknown> = Effect.gen(function* () {
  const sections = yield* section(["reprise"], root, Completions.fromCommand(root))
  return page([
    generated("cli/src/commands/root.ts"),
    "# Commands",
    "Data goes to standard output, messages to standard error. Colour is used only on a terminal, and not with `NO_COLOR`.",
    'With `--json` a command prints one object, `{"ok":true,"data":…}` or `{"ok":false,"error":{"code":…,"message":…,"hint":…}}`. `run`, `demo`, `watch` and `logs` print one [event](messages.md#events) per line instead: `{"type","time","id","runId",…}`.',
    "An empty default means that the flag is not set. A flag with the default `off` is a switch and takes no value.",
    "Flags of every command:",
    global,
    "## Exit codes",
    table(
      ["code", "means"],
      Object.entries(meanings).map(([name, meaning]) => [
        code(String(Object.entries(exitCodes).find(([key]) => key === name)?.[1])),
        meaning
      ])
    ),
    ...sections
  ])
}).pipe(Effect.provide(NodeServices.layer))
