import { execFile, spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { markedProcesses, variableOf } from "@reprise/process"
import { Context, Effect, Layer, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { sessionFolder } from "../src/command/shellScript.ts"
import { markOf } from "../src/hostFolder.ts"
import { layerSandbox, Sandbox, type SandboxShape } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

const sandboxIn = ({ home, stateDirectory }: Scene) =>
  Effect.map(
    Layer.build(
      layerSandbox({
        mode: "required",
        gates: true,
        settings: { write: [], read: [], deny: [], network: ["example.org"] },
        stateDirectory,
        environment: { ...process.env, HOME: home }
      })
    ),
    (context) => Context.get(context, Sandbox)
  )

const occupied = (sandbox: SandboxShape, { workspace }: Scene) =>
  sandbox.occupy({ directory: workspace, role: "author", permissions: "ask" })

const run = (shell: string, { workspace }: Scene, folder = workspace) =>
  Effect.callback<string>((resume) => {
    execFile(
      shell,
      ["-c", "echo it works"],
      { cwd: workspace, env: { ...process.env, [sessionFolder]: folder }, timeout: 60_000 },
      (error, stdout, stderr) => resume(Effect.succeed(error === null ? stdout : `${error.message} ${stderr}`))
    )
  })

const until = (condition: () => boolean) =>
  TestClock.withLive(
    Effect.sync(condition).pipe(Effect.repeat({ until: (met) => met, schedule: Schedule.spaced("10 millis") }))
  )

describe.skipIf(!sandboxed)("a process that takes over from one that was killed", () => {
  it.live("leaves its server the programs that it runs commands with, until the server has ended", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const earlier = yield* sandboxIn(here)
      yield* occupied(earlier, here)
      const shell = yield* earlier.serverShell
      assert.strictEqual(yield* run(shell, here), "it works\n")
      const [own = ""] = readdirSync(join(here.stateDirectory, "sandbox", "hosts"))
      assert.isNotEmpty(
        yield* markedProcesses(markOf(own)),
        "the proxy's program would be found if this process was killed"
      )
      yield* Effect.scoped(
        Effect.gen(function* () {
          const next = yield* sandboxIn(here)
          const nextShell = yield* next.serverShell
          assert.strictEqual(yield* run(shell, here), "it works\n")
          assert.include(yield* run(nextShell, here), "no agent works in", "the new server has workspaces of its own")
          yield* occupied(next, here)
          assert.strictEqual(yield* run(nextShell, here), "it works\n")
          assert.include(yield* run(nextShell, here, ""), "did not say whose command this is")
          assert.include(yield* run(nextShell, here, "/nowhere"), "no agent works in /nowhere")
        })
      )
      assert.strictEqual(yield* run(shell, here), "it works\n")
    }).pipe(Effect.scoped)
  )

  it.effect("removes what is left of processes that are gone, and nothing of one that runs", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const hosts = join(here.stateDirectory, "sandbox", "hosts")
      const gone = join(hosts, `${2 ** 30}-1-0`)
      const reused = join(hosts, `${process.pid}-1-0`)
      for (const folder of [gone, reused]) mkdirSync(join(folder, "temporary"), { recursive: true })
      const left = spawn("sleep", ["600"], { env: { ...process.env, ...variableOf(markOf(gone)) }, stdio: "ignore" })
      yield* Effect.addFinalizer(() => Effect.sync(() => left.kill("SIGKILL")))
      const running = yield* sandboxIn(here)
      yield* running.serverShell
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.andThen(sandboxIn(here), (next) => next.serverShell)
          assert.strictEqual(readdirSync(hosts).length, 4)
          yield* TestClock.adjust("1 minute")
          yield* until(() => !existsSync(gone) && !existsSync(reused))
          yield* until(() => left.signalCode !== null)
          assert.strictEqual(readdirSync(hosts).length, 2)
        })
      )
      assert.strictEqual(readdirSync(hosts).length, 1)
    }).pipe(Effect.scoped)
  )
})
