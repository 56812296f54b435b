// @module-tag long
/** OpenCode is launched before the rest of a run is loaded: neither early nor in vain, and never left over. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { untilUnused, usersOf } from "../harness/untilUnused.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const lineOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

/** The OpenCode servers that run in the world. */
const servers = ({ root }: World) =>
  usersOf(join(root, "..")).filter((pid) => / serve --hostname /.test(lineOf(pid)) && !lineOf(pid).includes("sh -c"))

const untilLaunched = (world: World) => waitUntil(Effect.sync(() => servers(world)[0]))

const refusals: ReadonlyArray<{
  readonly what: string
  readonly code: number
  readonly spoil: (world: World) => void
  readonly config?: string
}> = [
  { what: "a plan with a mistake", code: 2, spoil: ({ root }) => writeFileSync(join(root, "PLAN.md"), "# No phase\n") },
  { what: "a tree with changes", code: 3, spoil: ({ root }) => writeFileSync(join(root, "more.txt"), "more\n") },
  {
    what: "commands that nobody has trusted",
    code: 3,
    config: "",
    spoil: ({ git, root }) => {
      writeFileSync(join(root, "reprise.toml"), '[gates]\nquality = ["true"]\n')
      git("commit", "--quiet", "--all", "--message", "Gates")
    }
  }
]

describe("the start of OpenCode", () => {
  for (const { code, config, spoil, what } of refusals) {
    it.live(`is not begun for ${what}, and nothing is left of the command`, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          plan: plan("One"),
          script: script(),
          ...(config === undefined ? {} : { config })
        })
        spoil(world)
        const ended = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(ended.code, code, ended.stderr)
        assert.isFalse(existsSync(join(world.root, ".reprise")))
        assert.deepStrictEqual(usersOf(join(world.root, "..")), [])
      })
    )
  }

  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    it.live(`leaves nothing over after ${signal} before it answers, and the next command does the run`, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ plan: plan("One"), script: script() })
        const first = yield* world.start("run", "PLAN.md")
        const launched = yield* untilLaunched(world)
        yield* first.kill(signal)
        yield* untilUnused(join(world.root, ".."))
        assert.isFalse(existsSync(`/proc/${launched}`))
        assert.strictEqual((yield* world.model.calls).length, 0)
        const second = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(second.code, 0, second.stderr)
      })
    )
  }
})
