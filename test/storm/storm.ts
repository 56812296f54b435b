/**
 * A storm: runs of plans on real parts, one after the other, while processes are killed at moments that a seed chooses. A
 * keeper starts again what was killed, as a user would, and a human answers the questions.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { EscalationView, RunView } from "@reprise/protocol"
import { Effect, Fiber, Schema } from "effect"
import type { Bundle } from "../harness/bundle.ts"
import type { Command, Ended } from "../harness/Command.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { type Random, randomOf } from "../simulation/machine/Random.ts"
import { checkRemains, checkRun, type RunFigures, storeBytes, type Told } from "./checks.ts"
import { type Agent, config, guidanceFor, planFiles, planName, script } from "./story.ts"
import { findVictims, type VictimKind } from "./victims.ts"

export interface StormOptions {
  readonly seed: number
  readonly agent: Agent
  /** Ends after the run in which the last of them happened. */
  readonly kills: number
  /** The least number of runs. */
  readonly runs?: number
  readonly bundle?: Bundle
  readonly say?: (line: string) => void
}

export interface Storm extends RunFigures {
  readonly seed: number
  readonly agent: Agent
  readonly kills: Readonly<Partial<Record<VictimKind, number>>>
  readonly runs: number
  readonly elapsedMs: number
  /** The size of the broker's store after each run and its `prune`. */
  readonly storeBytes: ReadonlyArray<number>
  /** What does not hold, in sentences. */
  readonly violations: ReadonlyArray<string>
}

/** Every run of a world has a plan of its own. */
const mostRuns = 120

/** A process that dies more often than five times within a minute is given up, which the storm does not count as a failure. */
const killsInAMinute = 4

interface Weather {
  readonly options: StormOptions
  readonly world: World
  readonly random: Random
  readonly state: string
  /** The commands that run now. */
  readonly commands: Map<number, Command>
  /**
   * Those that follow a run after its only question was answered. Killed just before the run completes, such a command
   * would be given again just after it, and run the plan once more, as it should.
   */
  readonly spared: Set<number>
  isAnswered: boolean
  /** Those that the storm has killed, or ended itself. */
  readonly struck: Set<number>
  readonly kills: Array<{ readonly kind: VictimKind; readonly atMs: number }>
  readonly violations: Array<string>
  readonly told: Told
  readonly storeBytes: Array<number>
  readonly startedAt: number
  ends: boolean
}

const say = ({ options, startedAt }: Weather, line: string) =>
  options.say?.(`${((Date.now() - startedAt) / 1000).toFixed(1)} s ${line}`)

const isDone = ({ kills, options }: Weather) => kills.length >= options.kills

/** Runs a command; undefined if the storm has killed it. */
const run = Effect.fnUntraced(function* (weather: Weather, ...args: ReadonlyArray<string>) {
  const command = yield* weather.world.start(...args)
  weather.commands.set(command.pid, command)
  if (args[0] === "run" && weather.isAnswered) weather.spared.add(command.pid)
  const ended = yield* command.ended
  if (ended.code !== 137) say(weather, `reprise ${args.join(" ")} ended with ${ended.code}`)
  weather.commands.delete(command.pid)
  return weather.struck.has(command.pid) ? undefined : ended
}, Effect.scoped)

/** What a command did that nobody had killed. */
const complain = (weather: Weather, args: ReadonlyArray<string>, ended: Ended): void => {
  const words = `reprise ${args.join(" ")} ended with ${ended.code}: ${ended.stderr.slice(-1_000)}${ended.stdout.slice(-300)}`
  weather.violations.push(words)
  say(weather, words)
}

/** Runs a command until it ends by itself. Any other exit code than these is a violation, and it is tried again. */
const insist = Effect.fnUntraced(function* (
  weather: Weather,
  codes: ReadonlyArray<number>,
  ...args: ReadonlyArray<string>
) {
  while (true) {
    const ended = yield* run(weather, ...args)
    if (ended === undefined) continue
    if (codes.includes(ended.code)) return ended
    complain(weather, args, ended)
    if (weather.violations.length > 20) return yield* Effect.die(new Error(weather.violations.join("\n")))
  }
})

const decode = <A>(data: Schema.Codec<A, unknown>) =>
  Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ ok: Schema.Literal(true), data: Schema.Array(data) })))
const decodeRuns = decode(RunView)
const decodeRun = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ ok: Schema.Literal(true), data: RunView }))
)
const decodeQuestions = decode(EscalationView)

/** A host that is started again whenever it has ended. */
const keepHost = (weather: Weather) =>
  Effect.gen(function* () {
    const ended = yield* run(weather, "up", "--json")
    if (ended !== undefined && !weather.ends) complain(weather, ["up"], ended)
  }).pipe(Effect.repeat({ until: () => weather.ends }))

/** Answers every open question. An answer that was killed half-way is given again, and may then be refused. */
const answer = Effect.fnUntraced(function* (weather: Weather) {
  const listed = yield* insist(weather, [0], "gate", "list", "--json")
  for (const { escalationId, runId, state } of decodeQuestions(listed.stdout).data) {
    if (state !== "open") continue
    const given = ["gate", "answer", escalationId, "c", "--guidance", guidanceFor(runId)]
    const { code, stderr } = yield* insist(weather, [0, 2], ...given)
    if (code === 2 && !stderr.includes("is closed"))
      return yield* Effect.die(new Error(`${given.join(" ")}: ${stderr}`))
    weather.isAnswered = true
  }
})

/** Tells one run from its start to its end. */
const tellRun = Effect.fnUntraced(function* (weather: Weather, number: number) {
  const planPath = planName(number)
  weather.isAnswered = false
  while ((yield* insist(weather, [0, 4], "run", planPath, "--json")).code === 4) yield* answer(weather)
  const { data: listed } = decodeRuns((yield* insist(weather, [0], "status", "--json")).stdout)
  // A list may be older than a process that was killed before it stored its newest views; the journal is not.
  const runs = yield* Effect.forEach(listed, ({ runId }) =>
    Effect.map(insist(weather, [0], "status", runId, "--json"), ({ stdout }) => decodeRun(stdout).data)
  )
  for (const problem of yield* checkRun(weather.world, weather.told, planPath, runs)) {
    weather.violations.push(`${planPath}: ${problem}`)
    say(weather, problem)
  }
  yield* insist(weather, [0], "prune", "--days", "0", "--yes")
  weather.storeBytes.push(storeBytes(weather.state))
  say(
    weather,
    `${planPath} is told: ${weather.kills.length} kills, ${weather.violations.length} violations, store ${weather.storeBytes.at(-1)} bytes`
  )
})

const strongest = 800
const longestPauseMs = 5_000

/** Waits until something has happened: some calls of the model, or too long a silence; then for a moment more. */
const untilNextKill = Effect.fnUntraced(function* ({ random, world }: Weather) {
  const seen = (yield* world.model.calls).length
  const more = random.below(4)
  yield* world.model
    .awaitCall(({ sequence }) => sequence >= seen + more)
    .pipe(Effect.timeoutOption(`${1_000 + random.below(longestPauseMs)} millis`))
  yield* Effect.sleep(`${random.below(strongest)} millis`)
})

const kindsOf = (agent: Agent) => ["command", "host", "broker", agent, agent] as const

const strike = Effect.fnUntraced(function* (weather: Weather) {
  const { commands, kills, options, random, spared, state, struck } = weather
  const [first, ...others] = kindsOf(options.agent)
  const kind = random.pick<VictimKind>(first, ...others)
  const now = Date.now()
  if (kills.filter((one) => one.kind === kind && now - one.atMs < 60_000).length >= killsInAMinute) return
  const found = (yield* findVictims(kind, state, commands.keys())).filter((pid) => !spared.has(pid))
  const victim = found[random.below(found.length)]
  if (victim === undefined) return
  struck.add(victim)
  try {
    process.kill(victim, "SIGKILL")
  } catch {
    // It has just ended.
    struck.delete(victim)
    return
  }
  kills.push({ kind, atMs: now })
  say(weather, `kill ${kills.length} of ${options.kills}: ${kind} ${victim}`)
})

const killAll = (weather: Weather) =>
  Effect.andThen(untilNextKill(weather), strike(weather)).pipe(
    Effect.repeat({ until: () => isDone(weather) }),
    Effect.when(Effect.sync(() => !isDone(weather)))
  )

/** Stops the host as a user would. */
const stop = (weather: Weather) =>
  Effect.suspend(() => {
    weather.ends = true
    return Effect.forEach([...weather.commands.values()], (command) => {
      weather.struck.add(command.pid)
      return command.kill("SIGTERM")
    })
  })

/** Makes a world, lets the storm rage, and says what does not hold afterwards. */
export const rage = Effect.fn("rage")(function* (options: StormOptions) {
  const startedAt = Date.now()
  const world = yield* makeWorld({
    plan: "# Unused\n\n## Phase 1: Unused\n\n- [ ] Nothing\n",
    files: planFiles(mostRuns),
    config: config(options.agent),
    script,
    environment: (folder) => {
      // What a process leaves in its temporary folder is found there.
      mkdirSync(join(folder, "tmp"))
      return { TMPDIR: join(folder, "tmp") }
    },
    ...(options.bundle === undefined ? {} : { bundle: options.bundle })
  })
  const weather: Weather = {
    options,
    world,
    random: randomOf(options.seed),
    state: join(world.root, ".reprise"),
    commands: new Map(),
    spared: new Set(),
    isAnswered: false,
    struck: new Set(),
    kills: [],
    violations: [],
    told: { figures: { calls: 0, prompts: 0, commits: 0, answers: 0 } },
    storeBytes: [],
    startedAt,
    ends: false
  }
  const host = yield* Effect.forkScoped(keepHost(weather))
  const killer = yield* Effect.forkScoped(killAll(weather))
  let runs = 0
  while (!isDone(weather) || runs < (options.runs ?? 1)) yield* tellRun(weather, ++runs)
  yield* Fiber.join(killer)
  yield* stop(weather)
  yield* Fiber.join(host)
  weather.violations.push(...(yield* checkRemains(world)))
  const kills: Partial<Record<VictimKind, number>> = {}
  for (const { kind } of weather.kills) kills[kind] = (kills[kind] ?? 0) + 1
  const { agent, seed } = options
  const { told, violations } = weather
  return {
    seed,
    agent,
    kills,
    runs,
    elapsedMs: Date.now() - startedAt,
    storeBytes: weather.storeBytes,
    violations,
    ...told.figures
  } satisfies Storm
}, Effect.scoped)
