/** Runs one story: a world from a seed, its faults, and the end, when nothing goes wrong any more. */
import { Broker, MemoryBroker, Messenger } from "@reprise/actor"
import { Context, type Effect, Exit, type Fiber, Layer, Scope } from "effect"
import type { Evidence } from "./checks/Check.ts"
import { Machine, Process, startMs } from "./machine/Machine.ts"
import { type Agents, makeAgents } from "./parts/agents.ts"
import { Cluster, type Seam } from "./parts/Cluster.ts"
import { hostLayer } from "./parts/host.ts"
import { type Human, makeHuman } from "./parts/human.ts"
import { Progress } from "./parts/Progress.ts"
import { recording } from "./parts/Record.ts"
import { Repository } from "./parts/Repository.ts"
import { makeRuntime, type SimulatedRuntime } from "./parts/runtime.ts"
import { type Actors, actorConfig, actors as realActors } from "./parts/services.ts"
import type { Fault } from "./world/faults.ts"
import { planPath, type World } from "./world/World.ts"

/** What a story left behind, for the checks. */
export interface Story extends Evidence {
  readonly agents: Agents
  readonly human: Human
  readonly runtime: SimulatedRuntime
  readonly repositories: ReadonlyMap<string, Repository>
  readonly progress: Progress
  readonly steps: number
  readonly hash: number
  readonly elapsedMs: number
  readonly kills: number
}

/** A bug of the product, for a test of the checks: it stands between a service and what the service uses. */
export interface Bug {
  readonly actors?: (actors: Actors) => Actors
  readonly seam?: Seam
}

/** Once faults have stopped, a story comes to rest within this virtual time. */
const restWithinMs = 4 * 60 * 60_000
/** It is at rest when nothing has changed for so long, and no message is left to be handled. */
const quietMs = 15_000
/** Or for so long: longer than the archive of a session waits for whoever is still at work in it. */
const longQuietMs = 11 * 60_000
const mostSteps = 400_000
const momentMs = 300

const happenAt = (fault: Fault): number | undefined => ("step" in fault ? fault.step : undefined)

export const simulate = (world: World, bug: Bug = {}): Story => {
  const machine = new Machine(world.seed)
  const server = new Process(machine, "broker")
  const scope = Scope.makeUnsafe()
  const build = <A, E>(process: Process, layer: Layer.Layer<A, E>): Context.Context<A> => {
    const built = machine.complete(process, Layer.buildWithScope(layer, scope))
    if (Exit.isFailure(built)) throw new Error(`${process.name} could not be made: ${built.cause}`)
    return built.value
  }
  const config = actorConfig(world.snapshotEvery)
  const real = Context.get(build(server, MemoryBroker.layer.pipe(Layer.provide(config))), Broker)

  const repositories = new Map(
    world.runs.map(({ directory, plan }, n) => [
      directory,
      new Repository(directory, n + 1, new Map([[planPath, plan]]))
    ])
  )
  const faultAt = <Tag extends Fault["_tag"]>(tag: Tag, is: (fault: Extract<Fault, { _tag: Tag }>) => boolean) =>
    world.faults.find((fault): fault is Extract<Fault, { _tag: Tag }> => fault._tag === tag && is(fault as never))
  const happened: Array<Fault> = []
  const onFault = (fault: Fault) => void happened.push(fault)
  const noted = <F extends Fault>(fault: F | undefined): F | undefined => {
    if (fault !== undefined && !happened.includes(fault)) onFault(fault)
    return fault
  }

  const agents = makeAgents({
    seed: world.seed,
    runOf: (id) => {
      const directory = runtime.directories.get(id)
      const run = world.runs.find((one) => one.directory === directory) ?? world.runs[0]
      const repository = run === undefined ? undefined : repositories.get(run.directory)
      if (run === undefined || repository === undefined) throw new Error(`No run has session ${id}.`)
      return { run, repository }
    },
    authorDoes: (prompt) => noted(faultAt("Author", (fault) => fault.prompt === prompt))?.does,
    reviewerDoes: (prompt) => noted(faultAt("Reviewer", (fault) => fault.prompt === prompt))?.does,
    nowMs: () => machine.elapsedMs
  })
  const runtimeServer = new Process(machine, "runtime")
  const runtime = makeRuntime(machine, runtimeServer, agents)

  const progress = new Progress(world.runs.map(({ runId }) => runId))
  let questions = 0
  const onAsked = () => {
    for (const fault of world.faults) {
      if (fault._tag !== "KillAsked" || fault.question !== questions) continue
      onFault(fault)
      machine.after(server, momentMs, () => cluster.kill(fault.service, fault.downMs))
    }
    questions += 1
  }
  const record = recording(machine, real, (stored) => {
    progress.note(stored)
    if (stored.kind === "event" && stored.type === "EscalationRaised") onAsked()
    human.hear(stored)
  })

  let gateRuns = 0
  let gitCalls = 0
  const host = hostLayer({
    repositories,
    gitFails: () => {
      const call = gitCalls
      gitCalls += 1
      return noted(faultAt("GitFails", (fault) => fault.call <= call && call < fault.call + fault.times)) !== undefined
    },
    runCommand: () => {
      const run = gateRuns
      gateRuns += 1
      return {
        exitCode:
          noted(faultAt("GateFails", (fault) => fault.run <= run && run < fault.run + fault.times)) === undefined
            ? 0
            : 1,
        ms: 2_000
      }
    }
  })
  const actors = bug.actors?.(realActors) ?? realActors
  const cluster = new Cluster({
    machine,
    server,
    broker: record.broker,
    replicas: world.replicas,
    snapshotEvery: world.snapshotEvery,
    faults: world.faults,
    surroundings: (_, process) => ({ actors, host, runtimes: runtime.seenBy(process) }),
    seam: bug.seam ?? ((broker) => broker),
    // The runtime's server ends with the process that started it.
    onKilled: (service) => (service === "session-manager" && world.seed % 3 !== 0 ? runtime.crash(0) : undefined),
    onFault
  })

  const person = new Process(machine, "human")
  const messenger = Context.get(
    build(person, Messenger.layer.pipe(Layer.provide(Layer.succeed(Broker, record.broker)), Layer.provide(config))),
    Messenger
  )
  const human = makeHuman({
    world,
    process: person,
    messenger,
    runtime: runtime.own,
    sessionOf: (run, role) => progress.sessionOf(run.runId, role)
  })

  const trigger = (fault: Fault) => {
    switch (fault._tag) {
      case "KillAt":
        return fault.service === "all" ? cluster.killAll(fault.downMs) : cluster.kill(fault.service, fault.downMs)
      case "Freeze":
        return cluster.freeze(fault.service, fault.ms)
      case "ClockJump":
        return cluster.jumpClock(fault.service, fault.ms)
      case "RuntimeCrash":
        return runtime.crash(fault.downMs)
      case "Human":
        return human.do(fault.does)
      default:
        return
    }
  }
  const planned = world.faults
    .filter((fault) => happenAt(fault) !== undefined)
    .toSorted((one, other) => (happenAt(one) ?? 0) - (happenAt(other) ?? 0))
  const begin = machine.steps

  /** Whether every message that was stored before the last question was handled; asks again. */
  let settling: Fiber.Fiber<void, unknown> | undefined
  const isSettled = (): boolean => {
    settling ??= server.fork(real.settled)
    if (settling.pollUnsafe() === undefined) return false
    settling = undefined
    return true
  }

  /** Lets the story go on until it is at rest, and gives why it is not. */
  const play = (): string | undefined => {
    let lastFaultMs = machine.elapsedMs
    let quietSinceMs: number | undefined
    while (machine.steps - begin < mostSteps) {
      while (planned[0] !== undefined && machine.steps - begin >= (happenAt(planned[0]) ?? 0)) {
        const fault = planned.shift()
        if (fault === undefined) break
        onFault(fault)
        trigger(fault)
        lastFaultMs = machine.elapsedMs
      }
      if (!machine.step()) return "nothing will ever happen again"
      if (machine.elapsedMs - lastFaultMs > restWithinMs) return `not at rest after ${restWithinMs / 60_000} minutes`
      if (!(progress.isAtRest() && !human.isBusy() && cluster.isUp && runtime.isUp())) {
        quietSinceMs = undefined
        // An answer from before says nothing about what has come since.
        settling = undefined
        continue
      }
      quietSinceMs ??= machine.elapsedMs
      const quietFor = machine.elapsedMs - quietSinceMs
      // An agent that asks is at work for as long as nobody answers.
      if (quietFor >= longQuietMs || (quietFor >= quietMs && isSettled())) return undefined
    }
    return `not at rest after ${mostSteps} steps`
  }

  cluster.startAll()
  human.start()
  const unrest = play()
  cluster.healed = true
  const { elapsedMs, hash, steps } = machine
  const look = <A, E>(process: Process, effect: Effect.Effect<A, E>): A => {
    const exit = machine.complete(process, effect)
    if (Exit.isFailure(exit)) throw new Error(`The ${process.name} could not be read: ${exit.cause}`)
    return exit.value
  }
  return {
    ...{ world, record: record.stored, actors, agents, human, runtime, repositories, progress },
    ...{ steps: steps - begin, hash, elapsedMs, unrest, happened, kills: cluster.kills, startMs },
    read: (effect) => look(server, effect(real)),
    inspect: (effect) => look(runtimeServer, effect(runtime.own))
  }
}
