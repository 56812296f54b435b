/** The shells of commands read no startup file of the user, however Reprise was started. */
import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openShell } from "../src/command/shellScript.ts"
import { layerSandbox, Sandbox } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

/** In a home whose startup file says something. */
const talkative = Effect.tap(scene, ({ home }) =>
  Effect.sync(() => writeFileSync(join(home, ".bashrc"), "echo said at the start\n"))
)

/** Started as by a service manager, not from a shell; bash takes its input, a pipe of Node's, for a connection. */
const outputOf = (shell: string, { home, workspace }: Scene) =>
  Effect.promise(async () => {
    const env = { PATH: process.env["PATH"], HOME: home, SHLVL: "0" }
    return (await promisify(execFile)(shell, ["-c", "echo done"], { cwd: workspace, env })).stdout
  })

describe("a command's output has nothing that a user's startup file says", () => {
  it.live.skipIf(!sandboxed)("in the sandbox", () =>
    Effect.gen(function* () {
      const here = yield* talkative
      const sandbox = layerSandbox({
        mode: "required",
        gates: true,
        settings: { write: [], read: [], deny: [], network: [] },
        stateDirectory: here.stateDirectory,
        environment: { ...process.env, HOME: here.home }
      })
      const output = Sandbox.use(({ shellFor }) => shellFor(here.workspace, "author")).pipe(
        Effect.flatMap((shell) => outputOf(shell, here))
      )
      assert.strictEqual(yield* Effect.provide(Effect.scoped(output), sandbox), "done\n")
    })
  )

  it.live("in a session that the sandbox does not cover", () =>
    Effect.gen(function* () {
      const here = yield* talkative
      const shell = join(here.stateDirectory, "open-shell")
      mkdirSync(here.stateDirectory, { recursive: true })
      const inTree = { path: "", variables: {} }
      const programs = { own: here.stateDirectory, outside: "/usr/bin:/bin", inTree }
      writeFileSync(shell, openShell("/bin/bash", programs), { mode: 0o700 })
      assert.strictEqual(yield* outputOf(shell, here), "done\n")
    })
  )
})
