/** Ctrl-C in a real shell while a command asks something, or waits for a model: what the shell gets back. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { on, plan, script } from "../harness/modelScript.ts"
import { type Shell, shellIn } from "../harness/Shell.ts"
import { usersOf } from "../harness/untilUnused.ts"
import { makeWorld, type World } from "../harness/World.ts"

const ctrlC = "\x03"

/** Calls the command between two looks at the terminal's modes. */
const call = (shell: Shell, command: string) =>
  shell.type(`stty -g > ../before; ${command}; echo "ended with $?"; stty -g > ../after; echo loo''ked\n`)

/** The command has ended by the interruption, nothing that it started is left, and the terminal is as it was. */
const isOver = Effect.fnUntraced(function* (world: World, shell: Shell) {
  const shown = yield* shell.sees(/^looked$/m)
  assert.match(shown, /^ended with 130$/m, "the code stands at the beginning of a line")
  const folder = join(world.root, "..")
  const left = usersOf(folder).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "))
  assert.deepStrictEqual(
    left.filter((line) => !/^(script|sh|bash) /.test(line) || line.includes("reprise-guard")),
    []
  )
  const modes = (name: string) => readFileSync(join(folder, name), "utf8")
  assert.strictEqual(modes("after"), modes("before"))
  shell.type('echo "still $((1 + 1)) here"\n')
  yield* shell.sees(/^still 2 here$/m)
  return shown
})

describe("Ctrl-C", () => {
  it.live("ends a run that asks whether its commands may be run, as a signal does, and trusts nothing", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(),
        config: "",
        files: { "reprise.toml": '[gates]\nquality = ["true"]\n' }
      })
      const shell = yield* shellIn(world, "bash")
      call(shell, "reprise run PLAN.md")
      yield* shell.sees(/Run them\? \[y\/N\] $/m)
      shell.type(ctrlC)
      const shown = yield* isOver(world, shell)
      assert.notInclude(shown, "not trusted")
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 3, "the command is still not trusted")
      assert.strictEqual((yield* world.model.calls).length, 0)
    })
  )

  it.live("ends a doctor that waits for a model's answer, with the agent that it started", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), script: { rules: [on({}, { hold: "asked", text: "OK" })] } })
      const shell = yield* shellIn(world, "bash")
      call(shell, "reprise doctor --ask-models")
      yield* world.model.awaitHeld("asked")
      shell.type(ctrlC)
      const shown = yield* isOver(world, shell)
      assert.notInclude(shown, "answered in")
    })
  )
})
