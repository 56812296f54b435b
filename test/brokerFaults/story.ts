/** Tells one story on a nats-server of its own, in real time, and says what is wrong with it. */
import { Broker, Messenger } from "@reprise/actor"
import { ensureStreams, Nats } from "@reprise/nats"
import { PublicEvent, subjects, to } from "@reprise/protocol"
import {
  findViolation,
  localBrokerWith,
  makeNatsProxy,
  Broker as Server,
  stormOf,
  type TestBroker
} from "@reprise/testing"
import { Context, Effect, Layer, Schedule, Schema, type Scope, Stream } from "effect"
import { violationsOf } from "../simulation/checks/all.ts"
import type { Evidence } from "../simulation/checks/Check.ts"
import { historiesOf } from "../simulation/checks/histories.ts"
import { Progress } from "../simulation/parts/Progress.ts"
import { contentOf, type Stored } from "../simulation/parts/Record.ts"
import { prefix } from "../simulation/parts/services.ts"
import { planPath } from "../simulation/world/World.ts"
import { makePeople, question } from "./people.ts"
import type { Deed, Plan, PlannedDeed } from "./plan.ts"
import { readAll, storedOf } from "./record.ts"
import { connected, makeSurroundings, startServices } from "./services.ts"

/** Of a story that does not come to rest. */
const longestMs = 600_000
/** Of requests that are not part of the story. */
const observerTimeoutMs = 30_000
/** How long the server freezes, or is cut off: requests of the story are given up meanwhile. */
const awayMs = 4_500
const storageBytes = 512 * 1024 ** 2
/** A server that retires ends its clients' connections at once. */
const serverSettings = 'lame_duck_grace_period: "100ms"\nlame_duck_duration: "30s"'
const { streams } = subjects(prefix)
const isEvent = Schema.is(PublicEvent)

type Proxy = Effect.Success<ReturnType<typeof makeNatsProxy>>
type Manager = (typeof Nats)["Service"]["jsm"]

const consumed = [streams.commands, streams.work, streams.events, streams.timers]

/** The names of the consumers that stay. */
const durablesOf = (jsm: Manager) =>
  Effect.promise(async () => {
    const names: Array<string> = []
    for (const stream of consumed) {
      for await (const { config } of jsm.consumers.list(stream)) {
        if (config.durable_name !== undefined) names.push(`${stream} ${config.durable_name}`)
      }
    }
    return names.toSorted()
  })

const loseConsumers = (jsm: Manager) =>
  Effect.flatMap(durablesOf(jsm), (names) =>
    Effect.promise(async () => {
      for (const [stream = "", durable = ""] of names.map((name) => name.split(" "))) {
        await jsm.consumers.delete(stream, durable)
      }
    })
  )

/** Does one deed, and undoes it after a moment. */
const doDeed = (deed: Deed, server: TestBroker, proxy: Proxy, jsm: Manager): Effect.Effect<void, unknown> => {
  switch (deed) {
    case "kill":
      return server.kill.pipe(Effect.andThen(Effect.sleep("500 millis")), Effect.andThen(server.start))
    case "restart":
      return server.restart
    case "retire":
      return server.retire
    case "freeze":
      return server.pause.pipe(Effect.andThen(Effect.sleep(awayMs)), Effect.andThen(server.resume))
    case "partition":
      return server.cut.pipe(Effect.andThen(Effect.sleep(awayMs)), Effect.andThen(server.heal))
    case "cut":
      return Effect.sync(() => proxy.cut())
    case "lose consumers":
      return loseConsumers(jsm)
  }
}

/** What every message is: stored once, whatever was sent twice. */
const storedOnce = (record: ReadonlyArray<Stored>): ReadonlyArray<string> => {
  const known = new Set<string>()
  return record.flatMap(({ id, kind, type }) => {
    const name = `${kind} ${id}`
    if (known.has(name)) return [`${type} ${id} is stored twice among the ${kind}s`]
    known.add(name)
    return []
  })
}

export interface Told {
  readonly violations: ReadonlyArray<string>
  readonly record: ReadonlyArray<Stored>
  readonly ends: ReadonlyArray<string>
  /** What went wrong on the wire, with its time. */
  readonly faults: ReadonlyArray<{ readonly atMs: number; readonly text: string }>
  readonly elapsedMs: number
}

export const tell = Effect.fn("tell")(function* (plan: Plan): Effect.fn.Return<Told, unknown, Scope.Scope> {
  const { deeds, world } = plan
  const startMs = Date.now()
  const server = Context.get(yield* Layer.build(localBrokerWith({ settings: serverSettings })), Server)
  const proxy = yield* makeNatsProxy(server.url)
  const observer = yield* Layer.build(connected(server.url, "observer", observerTimeoutMs))
  yield* ensureStreams(prefix, { storageBytes }).pipe(Effect.provide(observer))
  const { jsm } = Context.get(observer, Nats)
  const broker = Context.get(observer, Broker)
  const messenger = Context.get(observer, Messenger)

  const { agents, repositories, runtime, surroundings } = yield* makeSurroundings(plan)
  yield* startServices(proxy.url, plan, surroundings)
  const durables = (yield* durablesOf(jsm)).join()
  const messengers = yield* Effect.forEach([0, 1], (who) =>
    Effect.map(Layer.build(connected(proxy.url, `person-${who}`)), (context) => Context.get(context, Messenger))
  )
  const people = makePeople(world.seed, messengers, world.answers)
  const progress = new Progress(world.runs.map(({ runId }) => runId))
  const left: Array<PlannedDeed> = [...deeds]
  let busy = 0
  let events = 0
  const faults: Array<Told["faults"][number]> = []
  const fates = stormOf(world.seed, plan.faultsInThousand)
  proxy.use((passing) => {
    const fate = fates(passing)
    if (fate === undefined) return undefined
    const { client, kind, nth, operation } = passing
    const how = "ms" in fate ? `${fate.do} ${fate.ms} ms` : fate.do
    faults.push({ atMs: Date.now() - startMs, text: `${how}: ${client} ${kind} ${operation} #${nth}` })
    return fate
  })

  const doDue = Effect.suspend(() => {
    const due = left.filter(({ after }) => after < events)
    left.splice(0, due.length)
    busy += 1
    return Effect.forEach(due, ({ deed }) => doDeed(deed, server, proxy, jsm), { discard: true }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          busy -= 1
        })
      )
    )
  })
  yield* broker.follow([`${prefix}.event.*.*.*`], "beginning").pipe(
    Stream.mapEffect((message) => storedOf(message, startMs)),
    Stream.runForEach((stored) =>
      Effect.gen(function* () {
        events += 1
        progress.note(stored)
        const event = contentOf(stored)
        if (isEvent(event)) yield* Effect.forkScoped(people.hear(event), { startImmediately: true })
      })
    ),
    Effect.forkScoped
  )
  yield* Effect.forkScoped(Effect.repeat(doDue, Schedule.spaced("20 millis")))
  for (const { directory, options, plan: text, runId } of world.runs) {
    yield* messenger.send(to.orchestrator(runId).StartRun({ plan: text, planPath, workspace: directory, options }), {
      id: `start-${runId}`
    })
  }

  const isQuiet = () => progress.isAtRest() && !people.isBusy() && busy === 0
  const isAtRest = Effect.gen(function* () {
    if (!isQuiet() || (yield* durablesOf(jsm)).join() !== durables) return false
    yield* broker.settled
    return isQuiet()
  })
  const unrest = yield* isAtRest.pipe(
    Effect.orElseSucceed(() => false),
    Effect.repeat({ until: (rests) => rests, schedule: Schedule.spaced("50 millis") }),
    Effect.as(undefined),
    Effect.timeoutOrElse({
      duration: longestMs,
      orElse: () => Effect.succeed(`not at rest after ${longestMs / 1000} s`)
    })
  )
  proxy.heal()
  const { kept, record } = yield* readAll(broker, startMs)
  const evidence: Evidence = {
    ...{ world, record, actors: surroundings.actors, agents, runtime, repositories, progress, unrest, startMs },
    human: { words: people.words, prompts: new Set() },
    happened: [],
    read: (look) => Effect.runSync(look(kept)),
    inspect: (look) => Effect.runSync(look(runtime.own))
  }
  const violations = violationsOf(evidence, historiesOf(evidence)).map(({ check, detail }) => `${check}: ${detail}`)
  const answers = [...people.histories].flatMap(([id, history]) => {
    const found = findViolation(question, history)
    return found === undefined ? [] : [`the answers to ${id} are not linearizable: ${found}`]
  })
  return {
    violations: [...violations, ...storedOnce(record), ...answers],
    record,
    ends: [...progress.states].map(([runId, state]) => `${runId} ${state._tag === "Ended" ? state.how : state._tag}`),
    faults,
    elapsedMs: Date.now() - startMs
  }
})
