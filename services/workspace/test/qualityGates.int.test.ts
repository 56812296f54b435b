import { spawn } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import type { GateResult } from "@reprise/protocol"
import { Deferred, Effect, Fiber, FileSystem, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { gates } from "./support/commands.ts"
import { adapters, type Repository, repository } from "./support/repository.ts"

const run = (made: Repository, commands: ReadonlyArray<string>, timeoutMs?: number) =>
  Effect.map(qualityGates(gates(commands, timeoutMs), made.place), (event) => ({
    passed: event._tag === "QualityPassed",
    results: event._tag === "QualityPassed" || event._tag === "QualityFailed" ? event.results : []
  }))

const one = (results: ReadonlyArray<GateResult>): GateResult => {
  const [result] = results
  assert.isDefined(result)
  return result as GateResult
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    // A process that has ended but was not collected by its parent is dead.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

const textOf = (path: string) =>
  FileSystem.FileSystem.use((files) => files.readFileString(path)).pipe(
    Effect.filterOrFail((text) => text.endsWith("\n")),
    Effect.retry(Schedule.spaced("10 millis")),
    Effect.orDie
  )

/** Runs a gate in a process of its own, which is killed when the scope closes. */
const inProcess = (made: Repository, gate: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const program = fileURLToPath(new URL("support/gateProcess.ts", import.meta.url))
      return spawn(process.execPath, [program, made.root, gate], { stdio: "ignore" })
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const untilDead = (pids: ReadonlyArray<number>) =>
  Effect.sync(() => pids.some(isAlive)).pipe(
    Effect.repeat({ while: (alive) => alive, schedule: Schedule.spaced("5 millis") })
  )

layer(adapters, { excludeTestServices: true })("quality gates", (it) => {
  it.effect("run again when a signal ends their shell before they have ended", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { passed } = yield* run(made, ["[ -e interrupted ] || { touch interrupted; kill -INT 0; sleep 3600; }"])
      assert.isTrue(passed)
    })
  )

  it.effect("all run in order, and fail together when one of them fails", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { passed, results } = yield* run(made, [
        "echo one >> order",
        "echo two >> order; exit 3",
        "echo three >> order"
      ])
      assert.isFalse(passed)
      assert.deepStrictEqual(
        results.map(({ exitCode }) => exitCode),
        [0, 3, 0]
      )
      assert.strictEqual(readFileSync(join(made.root, "order"), "utf8"), "one\ntwo\nthree\n")
      assert.isTrue((yield* run(made, ["true", "true"])).passed)
    })
  )

  it.effect("write the whole output of both streams to one log per gate before they report", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const script = "i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done; echo to-stderr >&2"
      const { results } = yield* run(made, [script, "npm run  Test:unit!", "npm run test unit", "echo ok"])
      const first = one(results)
      const log = readFileSync(join(made.root, first.logRef), "utf8")
      assert.include(log, "to-stderr\n")
      assert.deepStrictEqual(
        log.split("\n").filter((line) => line.startsWith("line-")),
        Array.from({ length: 20_000 }, (_, n) => `line-${n}`)
      )
      assert.isTrue(first.head.startsWith("line-0\nline-1\n"))
      assert.strictEqual(first.head.length, 2_048)
      assert.include(first.tail, "line-19999\n")
      assert.deepStrictEqual(
        results.slice(1).map(({ logRef }) => logRef),
        [
          ".reprise/logs/r1/quality-phase1-attempt1-npm-run-test-unit.log",
          ".reprise/logs/r1/quality-phase1-attempt1-npm-run-test-unit-2.log",
          ".reprise/logs/r1/quality-phase1-attempt1-echo-ok.log"
        ]
      )
    })
  )

  it.effect("end what a passed gate left running in the background", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { passed } = yield* run(made, ["sleep 600 & echo $! > background; echo done"])
      assert.isTrue(passed)
      assert.isFalse(isAlive(Number(yield* textOf(join(made.root, "background")))))
    })
  )

  it.effect("end with their whole process group when they are interrupted", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const fiber = yield* run(made, ["echo $$ > pid; sleep 600"]).pipe(Effect.forkChild)
      const pid = Number(yield* textOf(join(made.root, "pid")))
      assert.isTrue(isAlive(pid))
      yield* Fiber.interrupt(fiber)
      assert.isFalse(isAlive(pid))
    })
  )

  it.effect("end when the process that runs them is killed", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const gate =
        "sh -c 'trap \"\" TERM HUP; echo $$ > grandchild; while :; do sleep 0.05; done' & echo $$ > pid; wait"
      const child = yield* inProcess(made, gate)
      const pids = [Number(yield* textOf(join(made.root, "pid"))), Number(yield* textOf(join(made.root, "grandchild")))]
      assert.deepStrictEqual(pids.map(isAlive), [true, true])
      child.kill("SIGKILL")
      yield* untilDead(pids)
    })
  )

  it.effect("end when the process that runs them is killed while it interrupts them", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const asked = join(made.root, "asked")
      const child = yield* inProcess(
        made,
        "trap 'echo asked > asked' TERM; echo $$ > pid; while :; do sleep 0.05; done"
      )
      const pid = Number(yield* textOf(join(made.root, "pid")))
      child.kill("SIGTERM")
      yield* Effect.raceFirst(textOf(asked), untilDead([pid]))
      child.kill("SIGKILL")
      yield* untilDead([pid])
      return existsSync(asked)
      // Once more if the gate had no time to see that it was asked: then it was killed as one that does not listen.
    }).pipe(Effect.repeat({ until: (wasAsked) => wasAsked }))
  )

  it.effect("see no GIT_ variables, no credentials of Reprise, no keys, no input and no terminal", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const before = { ...process.env }
      Object.assign(process.env, {
        GIT_DIR: "/x",
        GIT_INDEX_FILE: "/y",
        REPRISE_TOKEN: "canary",
        NATS_CREDS: "canary",
        OPENCODE_SERVER_PASSWORD: "canary",
        ANTHROPIC_API_KEY: "canary"
      })
      const { results } = yield* run(made, [
        "env | grep -E '^(GIT_|REPRISE_|NATS_|OPENCODE_)' ; test $? -eq 1",
        'test -z "$ANTHROPIC_API_KEY"',
        'test -z "$(cat)"',
        "! (: < /dev/tty) 2>/dev/null",
        'test "$(git rev-parse --show-toplevel)" = "$PWD"'
      ]).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
          })
        )
      )
      assert.deepStrictEqual(
        results.map(({ command, exitCode, head }) => [command, exitCode, head]),
        results.map(({ command }) => [command, 0, ""])
      )
    })
  )

  it.effect("show the end of a short output as its tail too, and that nothing is left out", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { results } = yield* run(made, ["echo one; echo two >&2; exit 1"])
      assert.containSubset(results, [{ head: "one\ntwo\n", tail: "one\ntwo\n", overlap: 8 }])
    })
  )

  it.effect("report a gate that cannot start as failed, with the reason as its output", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const event = yield* qualityGates(gates(["echo hi"]), { ...made.place, directory: join(made.root, "gone") })
      assert.strictEqual(event._tag, "QualityFailed")
      const result = one(event._tag === "QualityFailed" ? event.results : [])
      assert.strictEqual(result.exitCode, null)
      assert.match(result.head, /^The command could not start: .*gone/)
      assert.strictEqual(readFileSync(join(made.root, result.logRef), "utf8"), result.head)
      assert.containSubset((yield* run(made, ["no-such-command"])).results, [{ exitCode: 127 }])
    })
  )

  it.effect("exit with 128 plus the number of the signal that ended them, as shells do", () =>
    Effect.gen(function* () {
      const made = yield* repository
      assert.containSubset((yield* run(made, ["kill -9 $$"])).results, [{ exitCode: 137, timedOut: false }])
    })
  )

  it.effect("write 256 MB to their log with little memory", () =>
    Effect.gen(function* () {
      const made = yield* repository
      let peak = 0
      const stop = yield* Deferred.make<void>()
      const watch = yield* Effect.sync(() => {
        peak = Math.max(peak, process.memoryUsage().rss)
      }).pipe(Effect.repeat(Schedule.spaced("20 millis")), Effect.raceFirst(Deferred.await(stop)), Effect.forkChild)
      const before = process.memoryUsage().rss
      const { results } = yield* run(made, ["head -c 268435456 /dev/zero"])
      yield* Deferred.succeed(stop, undefined)
      yield* Fiber.join(watch)
      assert.strictEqual(statSync(join(made.root, one(results).logRef)).size, 268_435_456)
      assert.isBelow(peak - before, 150 * 1024 * 1024)
    })
  )
})

/** Moves the clock on until the fiber is done: what waits for the clock on the way is not known here. */
const advanceUntilDone = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  TestClock.adjust("100 millis").pipe(
    Effect.andThen(TestClock.withLive(Effect.sleep("10 millis"))),
    Effect.repeat({ until: () => fiber.pollUnsafe() !== undefined }),
    Effect.andThen(Fiber.join(fiber))
  )

layer(adapters)("the time limit of a quality gate", (it) => {
  it.effect("ends the gate with everything it started, and lets the next gate run", () =>
    Effect.gen(function* () {
      const made = yield* repository
      // The grandchild ignores SIGTERM: only SIGKILL to its group ends it.
      const script = `echo before; sh -c 'trap "" TERM; echo $$ > grandchild; while :; do sleep 0.1; done' & wait`
      const running = yield* run(made, [script, "echo next"], 600_000).pipe(Effect.forkChild)
      const grandchild = Number(yield* TestClock.withLive(textOf(join(made.root, "grandchild"))))
      yield* TestClock.adjust("10 minutes")
      const { passed, results } = yield* advanceUntilDone(running)
      assert.isFalse(passed)
      assert.containSubset(results, [
        { timedOut: true, exitCode: null, head: "before\n" },
        { timedOut: false, exitCode: 0, head: "next\n" }
      ])
      assert.isFalse(isAlive(grandchild))
    })
  )
})
