/**
 * How long commands take until something is to be seen, compared with what they cannot do without. The time of processors
 * is counted beside that of the clock: other work on the machine changes it less.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { Effect } from "effect"
import { type Bundle, makeBundle } from "../../harness/bundle.ts"
import type { Command } from "../../harness/Command.ts"
import { oneQuestion, plan, script } from "../../harness/modelScript.ts"
import { makeWorld, type World } from "../../harness/World.ts"
import { waitUntil } from "../../harness/waitUntil.ts"
import { endedChildrenSeconds, family, taken } from "../processes.ts"
import { brokerStart, noteBroker, noteOpenCode, noteProgram, openCodePrompt, openCodeStart, sinceMs } from "./floors.ts"
import { Times } from "./Times.ts"
import { step, within } from "./within.ts"

const launcher = new URL("../../../cli/bin/reprise.js", import.meta.url).pathname
const rounds = 11
const runRounds = 5
/** Of all steps of a round, and of the end of what it has started. */
const roundSeconds = 300

const print = (text: string) => process.stdout.write(`${text}\n`)

const programs: Readonly<Record<string, ReadonlyArray<string>>> = {
  "node --eval ''": ["--eval", ""],
  "reprise --help": [launcher, "--help"],
  "reprise --version": [launcher, "--version"]
}

/** The processor time of a command that runs, with all that it has started. */
const processorMs = ({ pid }: Command): number =>
  1000 * family(pid).reduce((sum, one) => sum + taken(one).cpuSeconds + endedChildrenSeconds(one), 0)

const toStep = (name: string) => `run, to '${name}'`

/** The lines of a run up to its first prompt, in their order. */
const runSteps = {
  "the broker has started": /Starting the broker took/,
  "the run is stored": /of PLAN\.md: 1 phase/,
  "the phase begins": /Phase 1: One/,
  "OpenCode has started": /Starting OpenCode took/,
  "the session is made": /Author starts session/
}

const firstPrompt = "run, to the first prompt"
const launch = "run, to the launch of OpenCode"

/** The guard makes the log right before it runs the program. */
const untilLaunched = ({ root }: World) =>
  waitUntil(Effect.sync(() => existsSync(join(root, ".reprise", "logs", "opencode.log")) || undefined))

/** A run in a new repository, with everything cold. */
const noteRun = Effect.fnUntraced(function* (times: Times, world: World) {
  const started = performance.now()
  const run = yield* world.start("run", "PLAN.md", "--verbose")
  for (const [name, line] of Object.entries(runSteps)) {
    yield* Effect.forkScoped(
      Effect.map(run.waitFor(line), () => times.note(toStep(name), sinceMs(started), processorMs(run)))
    )
  }
  yield* Effect.forkScoped(
    Effect.map(untilLaunched(world), () => times.note(launch, sinceMs(started), processorMs(run)))
  )
  const called = Effect.as(
    world.model.awaitCall(() => true),
    undefined
  )
  const ended = yield* step(firstPrompt, Effect.raceFirst(called, run.ended))
  if (ended !== undefined) throw new Error(`the run ended with ${ended.code} before its first prompt: ${ended.stderr}`)
  times.note(firstPrompt, sinceMs(started), processorMs(run))
  yield* step("the end of the run", run.ended)
})

const coldRound = Effect.fnUntraced(function* (times: Times, packed: Bundle) {
  const story = { plan: plan("One"), script: script(), bundle: packed }
  yield* noteBroker(times)
  yield* Effect.flatMap(makeWorld(story), (world) => noteOpenCode(times, world))
  yield* Effect.flatMap(makeWorld(story), (world) => noteRun(times, world))
}, Effect.scoped)

/** A command that ends by itself. */
const noteCommand = Effect.fnUntraced(function* (times: Times, world: World, args: ReadonlyArray<string>, where = "") {
  const name = `${args.join(" ")}${where}`
  const [started, before] = [performance.now(), endedChildrenSeconds(process.pid)]
  const { code, stderr } = yield* step(`the end of '${name}'`, world.reprise(...args))
  if (code !== 0) throw new Error(`reprise ${name} ended with ${code}: ${stderr}`)
  times.note(name, sinceMs(started), (endedChildrenSeconds(process.pid) - before) * 1000)
})

const withBroker = ", where a broker is up"
const firstCharacter = "run at a terminal, to the first character"
const openQuestion = "run at a terminal, to a question that waits"

const noteQuestion = Effect.fnUntraced(function* (times: Times, world: World) {
  const started = performance.now()
  const run = yield* world.onScreen("run", "PLAN.md")
  yield* step(firstCharacter, run.waitFor(/\S/))
  times.note(firstCharacter, sinceMs(started))
  yield* step(openQuestion, run.waitFor(/Which colour\?/))
  times.note(openQuestion, sinceMs(started), processorMs(run))
  yield* step("the end of the run", run.kill("SIGTERM"))
}, Effect.scoped)

/** What is asked of a repository whose run waits for a human. */
const parkedRounds = Effect.fnUntraced(function* (times: Times, packed: Bundle) {
  const world = yield* makeWorld({ ...oneQuestion, openCode: "own", bundle: packed })
  yield* step("the end of a run that parks", world.reprise("run", "PLAN.md"))
  for (let round = 0; round < runRounds; round++) {
    yield* noteCommand(times, world, ["status"])
    yield* noteCommand(times, world, ["gate", "list"])
    yield* noteQuestion(times, world)
  }
  const log = yield* world.start("logs", "--follow", "--json")
  yield* step("the events of the run", log.waitFor(/EscalationRaised/))
  for (let round = 0; round < runRounds; round++) {
    yield* noteCommand(times, world, ["status"], withBroker)
    yield* noteCommand(times, world, ["gate", "list"], withBroker)
  }
  yield* step("the end of the log", log.kill("SIGTERM"))
}, Effect.scoped)

export const startUp = (): Promise<void> =>
  Effect.gen(function* () {
    const times = new Times()
    for (const [name, args] of Object.entries(programs)) {
      noteProgram(new Times(), name, args)
      for (let round = 0; round < rounds; round++) noteProgram(times, name, args)
    }
    const node = { name: "the start of node", ms: times.of("node --eval ''") }
    for (const name of Object.keys(programs)) print(times.line(name, node))
    const packed = yield* step("the bundle", makeBundle)
    for (let round = 1; round <= runRounds; round++) {
      yield* within(roundSeconds, `round ${round} of the cold runs`, coldRound(times, packed))
      // All of them take a minute or more, in which one would not know whether anything happens.
      print(`  cold run ${round} of ${runRounds} is over`)
    }
    yield* within(roundSeconds, "the rounds of the parked run", parkedRounds(times, packed))

    const broker = { name: "the starts of node and of a broker", ms: node.ms + times.of(brokerStart) }
    const openCode = { name: "OpenCode alone, to the first prompt", ms: times.of(openCodePrompt) }
    print(times.line(brokerStart))
    print(times.line(openCodeStart))
    print(times.line(openCodePrompt))
    print(times.line(launch))
    for (const name of Object.keys(runSteps)) print(times.line(toStep(name)))
    print(times.line(firstPrompt, openCode))
    print(times.line(firstCharacter, node))
    for (const name of [openQuestion, "status", "gate list"]) print(times.line(name, broker))
    for (const name of ["status", "gate list"]) print(times.line(`${name}${withBroker}`, node))
  }).pipe(Effect.scoped, Effect.runPromise)
