import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { Command, Completions } from "effect/cli"
import { CommandTree } from "../src/commands/completion.ts"
import { presentation, readArguments } from "../src/commands/parser.ts"
import { root } from "../src/commands/root.ts"

/** What these arguments print to standard output. */
const printed = Effect.fnUntraced(function* (...typed: ReadonlyArray<string>) {
  const lines: Array<string> = []
  yield* Command.runWith(root, { version: "1.2.3" })(readArguments(typed)).pipe(
    Effect.provideService(CommandTree, Completions.fromCommand(root)),
    Effect.provide(presentation),
    Effect.provide(NodeServices.layer),
    Effect.provideService(Console.Console, { ...globalThis.console, log: (line: string) => void lines.push(line) })
  )
  return lines.join("\n")
})

describe("the help of reprise", () => {
  it("has every command in a group", () => {
    assert.deepStrictEqual(
      root.subcommands
        .filter(({ group }) => group === undefined)
        .flatMap(({ commands }) => commands.map(({ name }) => name)),
      []
    )
  })

  it.effect("begins with what somebody new needs, and ends with how to get help on one command", () =>
    Effect.gen(function* () {
      const help = yield* printed("--help")
      const headings = [...help.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
      assert.deepStrictEqual(headings, [
        "Start",
        "Answer",
        "Watch",
        "Control",
        "Sessions",
        "Settings and trust",
        "Care",
        "For operators",
        "Shell"
      ])
      assert.match(help, /^Start:\n {2}demo .*\n {2}init .*\n {2}validate .*\n {2}run /m)
      assert.strictEqual(
        help.split("\n").at(-1),
        "'reprise help COMMAND' shows a command's arguments, flags and examples."
      )
    })
  )

  it.effect("is the help of a command after 'help COMMAND', without the last line", () =>
    Effect.gen(function* () {
      const help = yield* printed("help", "gate", "answer")
      assert.include(help, "reprise gate answer [flags] <ID> <CHOICE>")
      assert.notInclude(help, "help COMMAND")
    })
  )
})
