/** What commands leave behind that were killed, and what changes on the machine while a turn goes on. */
import { execFile, spawn } from "node:child_process"
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect, Schedule } from "effect"
import { layerSandbox, Sandbox, type SandboxShape } from "../src/index.ts"
import { putAsideLeft } from "../src/replaced/leftovers.ts"
import { canary, canSandbox, type Scene, scene } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

const environmentOf = ({ home }: Scene) => ({ ...process.env, HOME: home })

const run = (shell: string, command: string, here: Scene) =>
  Effect.callback<{ readonly code: number; readonly output: string }>((resume) => {
    execFile(
      shell,
      ["-c", command],
      { cwd: here.workspace, env: environmentOf(here), timeout: 120_000 },
      (error, stdout, stderr) =>
        resume(
          Effect.succeed({
            code: error === null ? 0 : typeof error.code === "number" ? error.code : -1,
            output: stdout + stderr
          })
        )
    )
  })

const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(Effect.repeat({ until: (met) => met, schedule: Schedule.spaced("20 millis") }))

/** As runtimes end a command that took too long: its whole group, which no program can refuse. */
const killed = (shell: string, command: string, shown: string, here: Scene) =>
  Effect.gen(function* () {
    const child = spawn(shell, ["-c", `${command}; sleep 3600`], {
      cwd: here.workspace,
      env: environmentOf(here),
      detached: true,
      stdio: "ignore"
    })
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
    yield* until(() => (lstatSync(shown, { throwIfNoEntry: false })?.size ?? 0) > 0)
    process.kill(-(child.pid ?? 0), "SIGKILL")
    yield* Effect.promise(() => ended)
  })

const inSandbox = <A, E>(
  use: (sandbox: SandboxShape, here: Scene) => Effect.Effect<A, E, never>,
  prepare: (here: Scene) => ReadonlyArray<string> = () => []
) =>
  Effect.gen(function* () {
    const here = yield* scene
    const options = {
      mode: "required" as const,
      gates: true,
      settings: { write: [], read: [], deny: prepare(here), network: [] },
      stateDirectory: here.stateDirectory,
      environment: environmentOf(here)
    }
    return yield* Effect.flatMap(Sandbox, (sandbox) => use(sandbox, here)).pipe(Effect.provide(layerSandbox(options)))
  }).pipe(Effect.scoped)

const grants = `echo '# ${canary}' > reprise.local.toml`

describe.skipIf(!sandboxed)("what a killed command made that may not be made", () => {
  it.live("is put aside before the next command, which cannot make it either", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        const settings = join(here.workspace, "reprise.local.toml")
        const shell = yield* sandbox.shellFor(here.workspace, "author")
        yield* killed(shell, grants, settings, here)
        assert.strictEqual((yield* run(shell, "test ! -e reprise.local.toml", here)).code, 0)
        assert.isFalse(existsSync(settings))
        const refused = join(here.stateDirectory, "sandbox", "refused")
        const kept = readdirSync(refused).map((name) => readFileSync(join(refused, name), "utf8"))
        assert.deepStrictEqual(kept, [`# ${canary}\n`], "nothing is lost")
      })
    )
  )

  it.live("is put aside when the turn ends, when a gate is prepared, and in the next process", () =>
    Effect.gen(function* () {
      const here = yield* inSandbox((sandbox, here) =>
        Effect.gen(function* () {
          const settings = join(here.workspace, "reprise.local.toml")
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* sandbox.occupy({ directory: here.workspace, role: "author", permissions: "ask" })
              yield* killed(shell, grants, settings, here)
            })
          )
          assert.isFalse(existsSync(settings), "when the turn ends")
          yield* killed(shell, grants, settings, here)
          yield* sandbox.gateShell(here.workspace, RunId.make("r1"))
          assert.isFalse(existsSync(settings), "when a gate is prepared")
          yield* killed(shell, grants, settings, here)
          yield* Effect.promise(() => putAsideLeft(join(here.stateDirectory, "sandbox")))
          assert.isFalse(existsSync(settings), "in the next process")
          writeFileSync(settings, "# mine\n")
          yield* sandbox.tidy(here.workspace)
          assert.isTrue(existsSync(settings), "what the user makes when no command runs is the user's")
          return here
        })
      )
      assert.isAbove(here.port, 0)
    })
  )
})

describe.skipIf(!sandboxed)("a command in the sandbox", () => {
  it.live("does not read what is denied after the folder above it was renamed", () =>
    inSandbox(
      (sandbox, here) =>
        Effect.gen(function* () {
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          yield* run(shell, "mv secrets renamed", here)
          assert.notInclude((yield* run(shell, "cat */deep/key */key deep/key", here)).output, canary)
        }),
      ({ workspace }) => {
        mkdirSync(join(workspace, "secrets", "deep"), { recursive: true })
        writeFileSync(join(workspace, "secrets", "deep", "key"), canary)
        return ["secrets/deep/key"]
      }
    )
  )

  it.live("runs although a key or a socket that was hidden is gone meanwhile", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        const shell = yield* sandbox.shellFor(here.workspace, "author")
        for (const path of [join(here.home, ".netrc"), join(here.home, ".aws"), here.socket]) {
          rmSync(path, { recursive: true })
        }
        assert.deepStrictEqual(yield* run(shell, "echo it works", here), { code: 0, output: "it works\n" })
      })
    )
  )

  it.live("runs once, however it cleans up and ends", () =>
    inSandbox((sandbox, here) =>
      Effect.gen(function* () {
        const shell = yield* sandbox.shellFor(here.workspace, "author")
        const { code } = yield* run(shell, "echo ran >> out-runs; rm -rf /tmp/.[a-z]* /tmp/*.txt; exit 1", here)
        assert.strictEqual(code, 1)
        assert.strictEqual(readFileSync(join(here.workspace, "out-runs"), "utf8"), "ran\n")
      })
    )
  )
})
