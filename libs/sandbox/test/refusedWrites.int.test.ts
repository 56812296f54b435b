/** What commands may not write: who learns of it, what is asked, and what an answer changes. */
import { execFile, spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect, Schedule } from "effect"
import { type Decider, layerSandbox, type RefusedWrite, Sandbox, type SandboxOptions } from "../src/index.ts"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"

const sandboxed = await canSandbox()

const sandboxFor = (it: Scene, changes: Partial<SandboxOptions> = {}) =>
  layerSandbox({
    mode: "required",
    gates: true,
    settings: { write: [], read: [], deny: [], network: [] },
    stateDirectory: it.stateDirectory,
    environment: { ...process.env, HOME: it.home },
    ...changes
  })

interface Ended {
  readonly code: number
  readonly output: string
}

const run = (it: Scene, shell: string, command: string) =>
  Effect.callback<Ended>((resume) => {
    const child = execFile(shell, ["-c", command], { cwd: it.workspace, timeout: 60_000 }, (_error, stdout, stderr) =>
      resume(Effect.succeed({ code: child.exitCode ?? -1, output: stdout + stderr }))
    )
  })

/** Notes what it is told. */
const noting = (decision: "allowed" | "rejected" | "told" = "told") => {
  const told: Array<RefusedWrite> = []
  const decider: Decider = {
    reach: () => Promise.resolve(false),
    write: (refused) => {
      told.push(refused)
      return Promise.resolve(refused.place === undefined ? "told" : decision)
    }
  }
  return { told, decider }
}

/** A folder of the user in which nothing is protected. */
const dataOf = ({ home }: Scene) => {
  const data = join(realpathSync(home), "data")
  mkdirSync(data, { recursive: true })
  return data
}

describe.skipIf(!sandboxed)("a file that a command may not write", () => {
  it.live.each(["author", "reviewer", "gate"] as const)(
    "is told with its path, for a command of %s, and the command fails with its own words and exit code",
    (who) =>
      Effect.gen(function* () {
        const here = yield* scene
        const data = dataOf(here)
        const { decider, told } = noting()
        yield* Effect.gen(function* () {
          const sandbox = yield* Sandbox
          const shell =
            who === "gate"
              ? yield* sandbox.gateShell(here.workspace, RunId.make("r1"))
              : yield* sandbox.shellFor(here.workspace, who)
          yield* sandbox.decide(here.workspace, decider, who === "gate" ? "gate" : "agent")
          const ended = yield* run(here, shell, `echo one; touch ${data}/x; echo two >&2; exit 7`)
          assert.strictEqual(ended.code, 7)
          assert.match(ended.output, /^one\n.*Read-only file system\ntwo\n$/)
          const fine = yield* run(here, shell, `touch ${data}/y 2>&1 || true`)
          assert.strictEqual(fine.code, 0)
          assert.strictEqual((yield* run(here, shell, "echo x > inside && kill -9 $$")).code, 137)
          assert.isTrue(existsSync(join(here.workspace, "inside")))
        }).pipe(Effect.scoped, Effect.provide(sandboxFor(here)))
        assert.deepStrictEqual(told, [
          { path: `${data}/x`, place: data, failed: true },
          { path: `${data}/y`, place: data, failed: false }
        ])
      })
  )

  it.live(
    "can be written by the next command if it was allowed, until the scope closes, and by no reviewer or gate",
    () =>
      Effect.gen(function* () {
        const here = yield* scene
        const data = dataOf(here)
        const { decider } = noting("allowed")
        yield* Effect.gen(function* () {
          const sandbox = yield* Sandbox
          const author = yield* sandbox.shellFor(here.workspace, "author")
          yield* sandbox.decide(here.workspace, decider)
          const first = yield* run(here, author, `echo x > ${data}/x`)
          assert.include(first.output, `reprise: commands may write in ${data} now. Run the command again.`)
          yield* Effect.gen(function* () {
            yield* sandbox.open(here.workspace, data)
            assert.strictEqual((yield* run(here, author, `echo x > ${data}/x`)).code, 0)
            for (const shell of [
              yield* sandbox.shellFor(here.workspace, "reviewer"),
              yield* sandbox.gateShell(here.workspace, RunId.make("r1"))
            ]) {
              const ended = yield* run(here, shell, `echo y > ${data}/y`)
              assert.include(ended.output, "Read-only file system")
            }
          }).pipe(Effect.scoped)
          assert.include((yield* run(here, author, `echo z > ${data}/z`)).output, "Read-only file system")
        }).pipe(Effect.scoped, Effect.provide(sandboxFor(here)))
        assert.deepStrictEqual(readdirSync(data), ["x"])
      })
  )

  it.live(
    "can be written from now on where a human has allowed it for good, unless it has become something protected",
    () =>
      Effect.gen(function* () {
        const here = yield* scene
        const data = dataOf(here)
        const kept = join(realpathSync(here.home), "kept")
        mkdirSync(kept)
        const opened = Effect.succeed([data, kept, join(here.home, ".ssh"), join(here.home, "linked"), here.home])
        symlinkSync(join(here.home, ".ssh"), join(here.home, "linked"))
        yield* Effect.gen(function* () {
          const sandbox = yield* Sandbox
          mkdirSync(join(kept, "deep", ".git"), { recursive: true })
          const author = yield* sandbox.shellFor(here.workspace, "author")
          const places = [data, kept, `${here.home}/.ssh`, `${here.home}/linked`, here.home]
          yield* run(here, author, places.map((place) => `echo x > ${place}/opened`).join("; "))
          assert.deepStrictEqual(
            places.filter((place) => existsSync(join(place, "opened"))),
            [data]
          )
        }).pipe(Effect.scoped, Effect.provide(sandboxFor(here, { opened })))
      })
  )

  it.live("is counted and never asked about where it is protected, whatever way the command takes", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const home = realpathSync(here.home)
      const data = dataOf(here)
      mkdirSync(join(data, "deep", "repository", ".git", "hooks"), { recursive: true })
      symlinkSync(join(home, ".config"), join(home, "linked"))
      const { decider, told } = noting("allowed")
      const paths = [
        `${home}/.bashrc`,
        `${home}/escaped`,
        `${home}/other/.git/hooks/post-commit`,
        `${home}/other/new`,
        `${home}/linked/autostart`,
        `${data}/new`,
        "/usr/local/bin/escaped"
      ]
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const author = yield* sandbox.shellFor(here.workspace, "author")
        yield* sandbox.decide(here.workspace, decider)
        for (const path of paths) assert.notStrictEqual((yield* run(here, author, `touch ${path}`)).code, 0)
      }).pipe(Effect.scoped, Effect.provide(sandboxFor(here)))
      assert.deepStrictEqual(
        told.map(({ path }) => path),
        paths
      )
      assert.deepStrictEqual(
        told.filter(({ place }) => place !== undefined),
        []
      )
    })
  )

  it.live("cannot be made up: of what may be written, or is elsewhere in the sandbox, nobody is told", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const { decider, told } = noting("allowed")
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const author = yield* sandbox.shellFor(here.workspace, "author")
        yield* sandbox.decide(here.workspace, decider)
        for (const path of [`${here.workspace}/a`, "/tmp/a", "relative"]) {
          yield* run(here, author, `echo "touch: cannot touch '${path}': Read-only file system"; exit 1`)
        }
      }).pipe(Effect.scoped, Effect.provide(sandboxFor(here)))
      assert.deepStrictEqual(told, [])
    })
  )

  it.live("leaves nothing of what commands said behind, and no output is lost or changed", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
      writeFileSync(join(here.workspace, "bytes"), bytes)
      yield* Effect.gen(function* () {
        const sandbox = yield* Sandbox
        const author = yield* sandbox.shellFor(here.workspace, "author")
        const ended = yield* run(here, author, "for i in $(seq 20000); do echo $i; done")
        assert.deepStrictEqual(spawnSync(author, ["-c", "cat bytes"], { cwd: here.workspace }).stdout, bytes)
        assert.strictEqual(ended.output.split("\n").length, 20_001)
        const [host = ""] = readdirSync(join(here.stateDirectory, "sandbox", "hosts"))
        assert.deepStrictEqual(readdirSync(join(here.stateDirectory, "sandbox", "hosts", host, "heard")), [])
        const program = readFileSync(author, "utf8")
        assert.notInclude(program, "undefined")
      }).pipe(Effect.scoped, Effect.provide(sandboxFor(here)))
    })
  )

  it.live(
    "ends with everything it started when its program is killed alone, though its output passes through a pipe",
    () =>
      Effect.gen(function* () {
        const here = yield* scene
        const seconds = `3598.${here.port}`
        const runs = Effect.sync(() =>
          readdirSync("/proc").some((pid) => {
            try {
              return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`
            } catch {
              return false
            }
          })
        )
        const until = (wanted: boolean) =>
          Effect.repeat(runs, { until: (now) => now === wanted, schedule: Schedule.spaced("20 millis") })
        yield* Effect.gen(function* () {
          const sandbox = yield* Sandbox
          const author = yield* sandbox.shellFor(here.workspace, "author")
          const child = spawn(author, ["-c", `sleep ${seconds} & sleep ${seconds}`], {
            cwd: here.workspace,
            stdio: "ignore"
          })
          yield* until(true)
          child.kill("SIGKILL")
          yield* until(false)
        }).pipe(Effect.scoped, Effect.provide(sandboxFor(here)))
      })
  )
})
