/** What an agent that runs inside as a whole finds and leaves in its own folder, whose files it obeys outside later. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Role } from "@reprise/protocol"
import { Effect } from "effect"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, run } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const ownFolder = ({ home }: Scene) => join(home, ".agent")

/** What each command says, as the agent, which is started anew for each. */
const asAgent = (here: Scene, commands: ReadonlyArray<readonly [Role, string]>) => {
  const own = ownFolder(here)
  const places = {
    write: [own],
    read: [],
    kept: ["*.settings", "tmp/bin"].map((name) => join(own, name)),
    apart: ["snapshots", "deep/er/snapshots"].map((name) => join(own, name)),
    network: []
  }
  return during(here, ({ agentProgram }) =>
    agentProgram === undefined
      ? Effect.die("bubblewrap is needed")
      : Effect.forEach(commands, ([role, command]) =>
          Effect.flatMap(
            agentProgram({ name: "agent", directory: here.workspace, role, own: places, variables: [] }),
            (program) => run(here, "/bin/sh", `cd ${own} && ${program} /bin/sh -c '${command}'`)
          )
        )
  )
}

describe.skipIf(!sandboxed)("an agent that runs inside as a whole", () => {
  it.live("makes no program in a folder deep in its own, whether the folders above exist or not", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* asAgent(here, [
        ["author", "mkdir -p tmp/bin tmp/other; echo evil > tmp/bin/rg; echo fine > tmp/other/file"]
      ])
      assert.isFalse(existsSync(join(ownFolder(here), "tmp", "bin")))
      assert.strictEqual(readFileSync(join(ownFolder(here), "tmp", "other", "file"), "utf8"), "fine\n")
    })
  )

  it.live("changes no program that is there, and moves no folder above it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const program = join(ownFolder(here), "tmp", "bin", "rg")
      mkdirSync(join(program, ".."), { recursive: true })
      writeFileSync(program, "mine\n")
      yield* asAgent(here, [
        ["author", "echo evil > tmp/bin/rg; mv tmp out-tmp; mkdir -p tmp/bin; echo evil > tmp/bin/rg; rm -rf tmp"]
      ])
      assert.strictEqual(readFileSync(program, "utf8"), "mine\n")
    })
  )

  it.live("does not reach elsewhere by a link in the place of a folder above", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.home, "elsewhere", "bin"), { recursive: true })
      writeFileSync(join(here.home, "elsewhere", "bin", "rg"), "mine\n")
      const [, said = ""] = yield* asAgent(here, [
        ["author", "rmdir tmp; ln -s ../elsewhere tmp; true"],
        ["author", "echo it runs"]
      ])
      assert.include(said, "it runs")
      assert.strictEqual(readFileSync(join(here.home, "elsewhere", "bin", "rg"), "utf8"), "mine\n")
    })
  )

  it.live("changes no file of the user's that a pattern names", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(ownFolder(here))
      const file = join(ownFolder(here), "work.settings")
      writeFileSync(file, "mine\n")
      yield* asAgent(here, [["author", "echo evil > work.settings; rm -f work.settings; mv work.settings other"]])
      assert.strictEqual(readFileSync(file, "utf8"), "mine\n")
    })
  )

  it.live("writes what a shell reads later in folders of its own, which it finds again and nobody else does", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(ownFolder(here), "snapshots"), { recursive: true })
      writeFileSync(join(ownFolder(here), "snapshots", "of-user.sh"), `${canary}\n`)
      const [first = "", second = "", reviewer = ""] = yield* asAgent(here, [
        ["author", "ls snapshots; echo one > snapshots/a.sh; echo two > deep/er/snapshots/b.sh"],
        ["author", "cat snapshots/* deep/er/snapshots/*"],
        ["reviewer", "ls snapshots deep/er/snapshots"]
      ])
      assert.notInclude(first, "of-user")
      assert.strictEqual(second, "one\ntwo\n")
      assert.notMatch(reviewer, /\.sh/)
      assert.deepStrictEqual(readdirSync(join(ownFolder(here), "snapshots")), ["of-user.sh"])
      assert.deepStrictEqual(readdirSync(join(ownFolder(here), "deep", "er", "snapshots")), [])
    })
  )

  it.live("starts where one of these folders is a link of the user's, which stays", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.home, "snapshots-of-user"))
      mkdirSync(ownFolder(here))
      symlinkSync("../snapshots-of-user", join(ownFolder(here), "snapshots"))
      const [said = ""] = yield* asAgent(here, [["author", "echo one > snapshots/a.sh && cat snapshots/a.sh"]])
      assert.strictEqual(said, "one\n")
      assert.deepStrictEqual(readdirSync(join(here.home, "snapshots-of-user")), [])
    })
  )
})
