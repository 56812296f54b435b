/** A command whose program is killed, so that nobody says that it has ended. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, environmentOf, run, until } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const evil = "git init -q made && git -C made config core.fsmonitor ./run"

/** How a runtime, the kernel or a person ends a program of which the command is still at work. */
const ends: ReadonlyArray<readonly [title: string, end: (pid: number) => void]> = [
  ["with its whole group", (pid) => process.kill(-pid, "SIGKILL")],
  ["alone", (pid) => process.kill(pid, "SIGKILL")],
  ["by a signal that it could have refused", (pid) => process.kill(pid, "SIGTERM")]
]

const begin = (here: Scene, shell: string, command: string): ChildProcess =>
  spawn(shell, ["-c", `${command}; touch out-done; sleep 3600`], {
    cwd: here.workspace,
    env: environmentOf(here),
    detached: true,
    stdio: "ignore"
  })

describe.skipIf(!sandboxed)("what a command made whose program was killed", () => {
  it.live.each(ends)("%s is put aside at once, within the turn", ([, end]) =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* sandbox.occupy({ directory: here.workspace, role: "author", permissions: "ask" })
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          const child = begin(here, shell, `${evil}; echo evil > reprise.local.toml`)
          yield* until(() => existsSync(join(here.workspace, "out-done")))
          assert.isTrue(existsSync(join(here.workspace, "made", ".git")))
          end(child.pid ?? 0)
          yield* until(() => !existsSync(join(here.workspace, "made", ".git")))
          assert.isFalse(existsSync(join(here.workspace, "reprise.local.toml")))
          const [host = ""] = readdirSync(join(here.stateDirectory, "sandbox", "hosts"))
          const heard = readdirSync(join(here.stateDirectory, "sandbox", "hosts", host, "heard"))
          assert.deepStrictEqual(
            heard.filter((name) => name.startsWith("begun-")),
            []
          )
        })
      )
    })
  )

  it.live("is put aside before the next command begins, however soon", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          const child = begin(here, shell, evil)
          yield* until(() => existsSync(join(here.workspace, "out-done")))
          const ended = new Promise((resolve) => child.once("exit", resolve))
          process.kill(-(child.pid ?? 0), "SIGKILL")
          yield* Effect.promise(() => ended)
          const said = yield* run(here, shell, "ls -A made; echo end")
          assert.notInclude(said.split("\n"), ".git")
          assert.include(said, "end")
        })
      )
    })
  )

  it.live("is put aside while another command of the workspace goes on", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          const other = spawn(shell, ["-c", "touch out-other; sleep 3600"], {
            cwd: here.workspace,
            env: environmentOf(here),
            detached: true,
            stdio: "ignore"
          })
          yield* until(() => existsSync(join(here.workspace, "out-other")))
          const child = begin(here, shell, evil)
          yield* until(() => existsSync(join(here.workspace, "out-done")))
          process.kill(-(child.pid ?? 0), "SIGKILL")
          yield* until(() => !existsSync(join(here.workspace, "made", ".git")))
          assert.strictEqual(other.exitCode, null)
          process.kill(-(other.pid ?? 0), "SIGKILL")
        })
      )
    })
  )
})
