import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Schedule } from "effect"
import {
  isAlive,
  markedProcesses,
  type ProgramRequest,
  runGit,
  runProgram,
  useProgramStarter,
  variableOf
} from "../src/index.ts"

const environment = { PATH: process.env["PATH"] ?? "" }
const shell = (script: string, options: Partial<ProgramRequest> = {}) =>
  runProgram({ program: "/bin/sh", args: ["-c", script], environment, ...options })

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-run-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const starter = Layer.effectDiscard(Effect.flatten(useProgramStarter))

const ways = { "of this process": Layer.empty, "of its starter": starter } as const

describe.each(["of this process", "of its starter"] as const)("runProgram, as a child %s", (way) =>
  layer(ways[way], { excludeTestServices: true })((it) => {
    it.effect("gives the exit code and both outputs of a program that fails", () =>
      Effect.gen(function* () {
        const output = yield* shell("echo out; echo err >&2; exit 3")
        assert.deepStrictEqual(output, { exitCode: 3, stdout: "out\n", stderr: "err\n" })
      })
    )

    it.effect("writes the input, and does not mind a program that never reads it", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* shell("cat", { input: "words" })).stdout, "words")
        assert.strictEqual((yield* shell("exit 0", { input: "x".repeat(1_000_000) })).exitCode, 0)
      })
    )

    const endless = "while :; do echo 0123456789; done"

    it.effect.each(["", " >&2"])("ends a program that writes more than allowed, and fails%s", (to) =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(shell(`(${endless})${to}`, { largestOutputBytes: 1_000 }))
        assert.strictEqual(failure.reason, "output")
        assert.include(failure.message, "it wrote more than 1000 bytes")
      })
    )

    it.effect("cuts the output where that is wished, and says so", () =>
      Effect.gen(function* () {
        const cut = yield* shell(endless, { largestOutputBytes: 25, cutsOutput: true })
        // It may have noticed that nobody reads any more.
        assert.deepStrictEqual(
          { ...cut, stderr: "" },
          {
            ...{ exitCode: 0, stdout: "0123456789\n0123456789\n012", stderr: "", isCut: true }
          }
        )
        const whole = yield* shell("echo 0123456789", { largestOutputBytes: 11, cutsOutput: true })
        assert.deepStrictEqual(whole, { exitCode: 0, stdout: "0123456789\n", stderr: "" })
      })
    )

    it.effect("looks names up in absolute folders alone, and takes no folder for a program", () =>
      Effect.gen(function* () {
        const directory = yield* folder
        mkdirSync(join(directory, "folders/git"), { recursive: true })
        for (const path of ["git", "bin/git"]) {
          mkdirSync(dirname(join(directory, path)), { recursive: true })
          writeFileSync(join(directory, path), "#!/bin/sh\necho planted\n", { mode: 0o700 })
        }
        const start = (path: string) =>
          runProgram({ program: "git", args: ["--version"], directory, environment: { PATH: path } })
        const { stdout } = yield* start(`:.:./bin:bin:${directory}/folders:/usr/bin:/bin`)
        assert.match(stdout, /^git version/)
        const failure = yield* Effect.flip(start(":.:bin"))
        assert.strictEqual(failure.message, "git could not be run: there is no program git on the PATH")
      })
    )

    it.effect("hands on nothing but the given environment", () =>
      Effect.gen(function* () {
        const { stdout } = yield* runProgram({
          program: "env",
          args: [],
          environment: { ...environment, ONLY: "this" }
        })
        assert.deepStrictEqual(
          stdout
            .trim()
            .split("\n")
            .map((line) => line.split("=")[0])
            .toSorted(),
          ["ONLY", "PATH"]
        )
      })
    )

    it.effect("tells a missing program from one that took too long", () =>
      Effect.gen(function* () {
        const missing = yield* Effect.flip(runProgram({ program: "no-such-program", args: [], environment }))
        assert.strictEqual(missing.reason, "not-found")
        const late = yield* Effect.flip(shell("sleep 3600", { timeoutMs: 50 }))
        assert.strictEqual(late.reason, "timeout")
      })
    )

    it.effect("takes no end by a signal for the program's own", () =>
      Effect.gen(function* () {
        const killed = yield* Effect.flip(shell("kill -INT $$"))
        assert.strictEqual(killed.reason, "signal")
        assert.include(killed.message, "SIGINT ended it")
      })
    )

    it.effect("ends the program and its children when the fiber is interrupted", () =>
      Effect.gen(function* () {
        const directory = yield* folder
        const mark = `REPRISE_TEST=${directory}` as const
        const fiber = yield* runProgram({
          program: "/bin/sh",
          args: ["-c", "sleep 3600 & sleep 3600"],
          environment: { ...environment, ...variableOf(mark) }
        }).pipe(Effect.forkChild)
        const until = (holds: (pids: ReadonlyArray<number>) => boolean) =>
          markedProcesses(mark).pipe(Effect.repeat({ until: holds, schedule: Schedule.spaced("5 millis") }))
        yield* until((pids) => pids.length === 3)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* markedProcesses(mark), [])
      }).pipe(Effect.scoped)
    )

    it.effect("gives 30 MB as they were written", () =>
      Effect.gen(function* () {
        const { stdout } = yield* shell("seq 1 4000000")
        assert.strictEqual(stdout.length, 30_888_896)
        assert.isTrue(stdout.endsWith("\n3999999\n4000000\n"))
      })
    )
  })
)

describe("the starter of programs", () => {
  const gone = (pid: number) =>
    Effect.sync(() => isAlive(pid)).pipe(
      Effect.repeat({ until: (lives) => !lives, schedule: Schedule.spaced("5 millis") })
    )
  const parent = Effect.map(shell("echo $PPID"), ({ stdout }) => Number(stdout))

  it.live("starts programs until its scope ends", () =>
    Effect.gen(function* () {
      const starterId = yield* Effect.scoped(Effect.andThen(Effect.flatten(useProgramStarter), parent))
      assert.notStrictEqual(starterId, process.pid)
      assert.strictEqual(yield* parent, process.pid)
      yield* gone(starterId)
    })
  )

  it.live(
    "whose process somebody ends, counts its programs as ended by a signal, and leaves the next ones to this process",
    () =>
      Effect.gen(function* () {
        yield* Effect.flatten(useProgramStarter)
        const starterId = yield* parent
        const failure = yield* Effect.flip(shell("kill -KILL $PPID; sleep 3"))
        assert.strictEqual(failure.reason, "signal")
        assert.strictEqual(yield* parent, process.pid)
        yield* gone(starterId)
      }).pipe(Effect.scoped)
  )

  const module = JSON.stringify(join(import.meta.dirname, "../src/index.ts"))
  const effect = JSON.stringify(createRequire(import.meta.url).resolve("effect"))
  const useStarter = `
    import { Effect, Scope } from ${effect}
    import { runProgram, useProgramStarter } from ${module}
    const shell = (script) => runProgram({ program: "/bin/sh", args: ["-c", script], environment: {} })
    const use = (body) => Effect.runPromise(
      Effect.flatten(useProgramStarter).pipe(Effect.andThen(body), Effect.provideService(Scope.Scope, Scope.makeUnsafe()))
    )
  `
  const print = "({ stdout }) => Effect.sync(() => process.stdout.write(stdout.trim()))"

  /** The starter's id, which the script prints, and how the process ended that used it. */
  const inProcess = (script: string) =>
    Effect.map(
      runProgram({
        program: "/bin/sh",
        args: ["-c", '"$0" --input-type=module -e "$1"; echo " $?"', process.execPath, useStarter + script],
        environment
      }),
      ({ stderr, stdout }) =>
        stderr === "" || stderr === "Killed\n" ? stdout.trim().split(" ").map(Number) : assert.fail(stderr)
    )

  it.live("keeps no process that has nothing left to do", () =>
    Effect.gen(function* () {
      const [starterId = 0, code] = yield* inProcess(
        `use(shell("sleep 0.1; echo $PPID").pipe(Effect.flatMap(${print})))`
      )
      assert.strictEqual(code, 0)
      yield* gone(starterId)
    })
  )

  it.live("ends with a process that is killed", () =>
    Effect.gen(function* () {
      const [starterId = 0, code] = yield* inProcess(
        `use(shell("echo $PPID").pipe(Effect.flatMap(${print}), Effect.andThen(shell("kill -KILL " + process.pid))))`
      )
      assert.strictEqual(code, 128 + 9)
      yield* gone(starterId)
    })
  )
})

describe("runGit", () => {
  it.live("works in the directory it is given, whatever repository the environment names", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      execFileSync("git", ["init", "--quiet", directory])
      const elsewhere = { ...process.env, GIT_DIR: "/nowhere", GIT_WORK_TREE: "/nowhere" }
      const { exitCode, stdout } = yield* runGit(directory, ["rev-parse", "--show-toplevel"], {
        environment: elsewhere
      })
      assert.deepStrictEqual({ exitCode, stdout }, { exitCode: 0, stdout: `${directory}\n` })
    }).pipe(Effect.scoped)
  )

  it.live("reads paths as they are, and gives git's own words when it refuses", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      execFileSync("git", ["init", "--quiet", directory])
      execFileSync("sh", ["-c", "echo x > a.txt && git add a.txt"], { cwd: directory })
      const pattern = yield* runGit(directory, ["ls-files", "--error-unmatch", "--", "*.txt"])
      assert.strictEqual(pattern.exitCode, 1)
      assert.match(pattern.stderr, /did not match any file/)
      assert.strictEqual(readFileSync(join(directory, "a.txt"), "utf8"), "x\n")
    }).pipe(Effect.scoped)
  )
})
