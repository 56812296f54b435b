/** How long commands take until something is to be seen, compared with Node's own start and with OpenCode's. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { OpenCodeServer } from "@reprise/agent"
import { ensureStreams } from "@reprise/nats"
import { Effect, Layer } from "effect"
import { type Bundle, makeBundle } from "../harness/bundle.ts"
import { oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { embedded } from "./embedded.ts"
import { figuresOf } from "./figures.ts"

const launcher = new URL("../../cli/bin/reprise.js", import.meta.url).pathname
const rounds = 11
const runRounds = 5

const print = (text: string) => process.stdout.write(`${text}\n`)

const milliseconds = (args: ReadonlyArray<string>): number => {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, [...args], { stdio: "ignore" })
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`)
  return performance.now() - started
}

const median = (values: ReadonlyArray<number>): number => figuresOf(values).p50

/** Times by what was measured. */
type Times = Map<string, Array<number>>

const note = (times: Times, name: string, ms: number): void => {
  times.set(name, [...(times.get(name) ?? []), ms])
}

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const started = performance.now()
    yield* effect
    return performance.now() - started
  })

const openCodeAlone = (world: World) => {
  const server = OpenCodeServer.layer({
    stateDirectory: join(world.root, "..", "alone"),
    environment: world.environment
  })
  return timed(Effect.flatMap(OpenCodeServer, ({ connection }) => connection).pipe(Effect.provide(Layer.fresh(server))))
}

/** The broker with its streams and one connection: a run has a connection for each service, and one of its own. */
const brokerAlone = timed(
  ensureStreams("reprise", { storageBytes: 512 * 1024 ** 2 }).pipe(Effect.provide(Layer.fresh(embedded)))
)

/** `Starting the broker took 0.3 s` */
const stepLine = /^(\S.*) took (\d+\.\d) s$/gm

/** A run in a new repository, with everything cold; its own lines say what took how long. */
const firstPrompt = (packed: Bundle, times: Times) =>
  Effect.gen(function* () {
    const world = yield* makeWorld({ plan: plan("One"), script: script(), bundle: packed })
    note(times, "OpenCode alone", yield* openCodeAlone(world))
    note(times, "broker alone", yield* brokerAlone)
    const started = performance.now()
    const run = yield* world.start("run", "PLAN.md", "--verbose")
    const called = Effect.as(
      world.model.awaitCall(() => true),
      undefined
    )
    const failed = yield* Effect.raceFirst(called, run.ended)
    if (failed !== undefined) throw new Error(`the run ended with ${failed.code}: ${failed.stderr}`)
    note(times, "run, to the first prompt", performance.now() - started)
    yield* run.ended
    for (const [, name = "", seconds] of run.stderr.matchAll(stepLine)) note(times, `  ${name}`, Number(seconds) * 1000)
  }).pipe(Effect.scoped)

/** What is asked of a repository whose run waits for a human. */
const parked = (packed: Bundle, times: Times) =>
  Effect.gen(function* () {
    const world = yield* makeWorld({ ...oneQuestion, openCode: "own", bundle: packed })
    yield* world.reprise("run", "PLAN.md")
    for (let round = 0; round < runRounds; round++) {
      note(times, "status", yield* timed(world.reprise("status")))
      note(times, "gate list", yield* timed(world.reprise("gate", "list")))
      const started = performance.now()
      const again = yield* world.onScreen("run", "PLAN.md")
      yield* again.waitFor(/\S/)
      note(times, "run at a terminal, to the first character", performance.now() - started)
      yield* again.waitFor(/Which colour\?/)
      note(times, "run, to a question that waits", performance.now() - started)
      yield* again.kill("SIGTERM")
    }
  }).pipe(Effect.scoped)

export const startUp = (): Promise<void> =>
  Effect.gen(function* () {
    const cases: Readonly<Record<string, ReadonlyArray<string>>> = {
      "node --eval ''": ["--eval", ""],
      "reprise --help": [launcher, "--help"],
      "reprise --version": [launcher, "--version"]
    }
    const floor = median(Array.from({ length: rounds }, () => milliseconds(["--eval", ""])))
    const line = (name: string, ms: number) =>
      print(`${name}: ${ms.toFixed(0)} ms, ${(ms / floor).toFixed(1)} × the start of node`)
    for (const [name, args] of Object.entries(cases)) {
      milliseconds(args)
      line(name, median(Array.from({ length: rounds }, () => milliseconds(args))))
    }
    const packed = yield* makeBundle
    const times: Times = new Map()
    for (let round = 0; round < runRounds; round++) yield* firstPrompt(packed, times)
    yield* parked(packed, times)
    for (const [name, values] of times) line(name, median(values))
    const [alone = [], started = []] = [times.get("broker alone"), times.get("  Starting the broker")]
    print(`the broker of a run: ${(median(started) / median(alone)).toFixed(2)} × the broker alone`)
    const [openCode = [], whole = []] = [times.get("OpenCode alone"), times.get("run, to the first prompt")]
    print(`run, to the first prompt: ${(median(whole) / median(openCode)).toFixed(2)} × OpenCode's own start`)
  }).pipe(Effect.scoped, Effect.runPromise)
