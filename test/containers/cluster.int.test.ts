// @module-tag long
/**
 * A cluster as people run it: three NATS servers, two of each service and two hosts with OpenCode, each a container, with
 * the accounts, keys and TLS of deploy; only the model is scripted. `npm test -- cluster` has twenty runs at once, CI three (docs/design/proof.md#a-cluster-in-containers).
 */
import { assert, describe, layer } from "@effect/vitest"
import { identities } from "@reprise/nats"
import { subjects } from "@reprise/protocol"
import { hasContainerEngine } from "@reprise/testing"
import { Effect, Fiber, References, Schema } from "effect"
import { forbiddenFor, pairOf, titlesOf } from "../accounts/pairs.ts"
import { refusalsOf } from "../accounts/refusals.ts"
import { waitForCommand } from "../harness/waitUntil.ts"
import { ContainerCluster, containerCluster } from "./cluster/ContainerCluster.ts"
import type { Ended } from "./cluster/containers.ts"
import { natsServers } from "./cluster/natsServers.ts"
import type { Part } from "./cluster/parts.ts"
import {
  branchOf,
  callsFor,
  callsOfRun,
  checkCalls,
  clusterScript,
  commitsOf,
  holds,
  plansOf
} from "./cluster/story.ts"
import { leaderOf, untilWhole, type WriteGaps, writeGaps } from "./cluster/writeGaps.ts"

const hasEngine = await Effect.runPromise(hasContainerEngine)
const wanted = process.env["REPRISE_CLUSTER_RUNS"]
const runs = Number(wanted ?? 3)
/** A few runs meet the end of one container of each kind, the full size of each. */
const isFull = runs >= 20
/** Only to name what hangs. */
const timeout = (isFull ? 60 : 15) * 60_000
const say = (text: string) => process.stdout.write(`${text}\n`)
const decodeHosts = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      data: Schema.Array(Schema.Struct({ host: Schema.String, runs: Schema.Array(Schema.String) }))
    })
  )
)
const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/** Starts runs at once, each with its command; `ended` waits for all, and says what is wrong. */
const startRuns = Effect.fnUntraced(function* (test: string) {
  const { addPlans, git, model, refusals, reprise } = yield* ContainerCluster
  yield* Effect.forEach(holds, model.rearm, { discard: true })
  yield* model.play(clusterScript)
  const plans = Object.keys(plansOf(test, runs))
  yield* addPlans(plansOf(test, runs))
  const start = (planPath: string) => Effect.forkScoped(reprise("run", planPath, "--remote", "origin", "--no-input"))
  const isAtWork = (planPath: string) =>
    model.awaitCall(({ messages }) => messages[0]?.text.includes(planPath) === true)
  const early = (command: Fiber.Fiber<Ended>) =>
    Effect.flatMap(Fiber.join(command), ({ code, output }) =>
      Effect.die(new Error(`a run ended with ${code} before its first call: ${output}`))
    )
  // The first makes what is kept in the clone, which all share.
  const commands: Array<Fiber.Fiber<Ended>> = []
  for (const [n, planPath] of plans.entries()) {
    const command = yield* start(planPath)
    commands.push(command)
    if (n === 0) yield* Effect.raceFirst(isAtWork(planPath), early(command))
  }
  // All of them are at work.
  yield* Effect.raceFirst(Effect.forEach(plans, isAtWork, { discard: true }), Effect.raceAllFirst(commands.map(early)))
  const ended = Effect.gen(function* () {
    const outcomes = yield* Effect.forEach(commands, Fiber.join)
    const failed = outcomes.flatMap(({ code, output }, n) => (code === 0 ? [] : [`${plans[n]}: ${code} ${output}`]))
    assert.deepStrictEqual(failed, [], "no run fails")
    const log = yield* git("for-each-ref", "--format='%(refname:short) %(subject)'", "refs/heads/reprise")
    for (const planPath of plans) assert.include(log, `${branchOf(planPath)} ${commitsOf(planPath).at(-1)}`)
    assert.deepStrictEqual(
      yield* refusals,
      [],
      "nobody is refused anything but an answer of a connection that has ended"
    )
    return yield* model.calls
  })
  return { plans, ended, outputs: Effect.forEach(commands, Fiber.join) }
})

/** Each turn once; calls that came again are those of agents that were ended meanwhile. Gives the number of calls. */
const requireCalls = Effect.fnUntraced(function* (plans: ReadonlyArray<string>) {
  const { disturbances, model } = yield* ContainerCluster
  const calls = yield* model.calls
  assert.deepStrictEqual(
    plans.flatMap((planPath) => checkCalls(calls, planPath, disturbances)),
    []
  )
  return plans.reduce((sum, planPath) => sum + callsFor(calls, planPath).length, 0)
})

const { journal } = subjects("reprise").streams

/** Kills the server that leads the journals, which is made to lead the probe's stream, too. */
const killLeader = Effect.fnUntraced(function* (gaps: WriteGaps) {
  const cluster = yield* ContainerCluster
  yield* untilWhole(gaps.nats.jsm)
  const leader = yield* leaderOf(gaps.nats.jsm, journal)
  const part = cluster.parts.find(({ spec }) => spec.name === leader)
  if (part === undefined) return yield* Effect.die(new Error(`${leader} leads, which is not of the cluster`))
  yield* gaps.moveTo(part.spec.name)
  yield* killAndTell(gaps, part.spec.name, `${part.spec.name}, which leads`)
})

const killAndTell = Effect.fnUntraced(function* (gaps: WriteGaps, name: string, told = name) {
  const cluster = yield* ContainerCluster
  const part = cluster.parts.find(({ spec }) => spec.name === name)
  if (part === undefined) return yield* Effect.die(new Error(`there is no ${name}`))
  if (part.kind === "nats") yield* untilWhole(gaps.nats.jsm)
  const atMs = Date.now()
  yield* cluster.killAndStart(part)
  const readyMs = Date.now()
  if (part.kind === "nats") yield* untilWhole(gaps.nats.jsm)
  const whole = part.kind === "nats" ? `, whole again after ${inSeconds(Date.now() - atMs)}` : ""
  say(
    `killed ${told}: ready again after ${inSeconds(readyMs - atMs)}${whole}; longest time without a write ${gaps.longest(atMs, Date.now())} ms`
  )
})

/** Replaces a part by its next release; NATS servers one after the other, each once the cluster is whole. */
const replaceAndTell = Effect.fnUntraced(function* (gaps: WriteGaps, part: Part) {
  const { replace } = yield* ContainerCluster
  if (part.kind === "nats") yield* untilWhole(gaps.nats.jsm)
  const atMs = Date.now()
  yield* replace(part)
  const ready = `replaced ${part.spec.name}: ready after ${inSeconds(Date.now() - atMs)}`
  if (part.kind !== "nats") return say(ready)
  yield* untilWhole(gaps.nats.jsm)
  const now = Date.now()
  say(
    `${ready}, whole again after ${inSeconds(now - atMs)}; longest time without a write ${gaps.longest(atMs, now)} ms`
  )
})

/** Runs a command until it succeeds: an answer of a cluster may be late, and a host that was killed is not gone at once. */
const insist = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { reprise } = yield* ContainerCluster
  return yield* waitForCommand(Effect.map(reprise(...args), ({ code, output }) => (code === 0 ? output : undefined)))
})

/** How many runs each host works on. */
const hostsOfRuns = Effect.gen(function* () {
  const output = yield* insist("hosts", "list", "--json")
  const { data } = decodeHosts(output)
  return data.map(({ host, runs: open }) => ({ host, runs: open.length }))
})

/** The host that works on the most runs. */
const busiestHost = Effect.gen(function* () {
  const all = yield* hostsOfRuns
  const [busiest] = all.toSorted((one, other) => other.runs - one.runs)
  if (busiest === undefined || busiest.runs === 0) return yield* Effect.die(new Error("no host has a run"))
  return busiest
})

describe.skipIf(!hasEngine || wanted === undefined)("a cluster of containers", () => {
  layer(containerCluster(clusterScript), { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    it.effect(
      `completes ${runs} runs at once with the right calls of the model, while ${isFull ? "each container" : "a container of each kind"} is killed once and the NATS leader twice`,
      () =>
        Effect.gen(function* () {
          const { model, nats, parts } = yield* ContainerCluster
          const gaps = yield* writeGaps(nats, "kills")
          const started = Date.now()
          const { ended, plans } = yield* startRuns("kills")
          yield* model.release("begin")
          yield* killLeader(gaps)
          const names = parts.map(({ spec }) => spec.name).filter((name) => isFull || name.endsWith("-1"))
          const third = Math.ceil(names.length / 3)
          for (const [n, name] of names.entries()) {
            if (n === third) yield* model.release("author")
            if (n === 2 * third) yield* model.release("reviewer")
            yield* killAndTell(gaps, name)
          }
          yield* killLeader(gaps)
          yield* ended
          const calls = yield* requireCalls(plans)
          const { acknowledged, stored } = yield* gaps.counted
          say(
            `${runs} runs completed in ${inSeconds(Date.now() - started)} with ${names.length + 2} kills: ${calls} calls of the model, ${runs * callsOfRun} without kills; ${acknowledged} appends acknowledged, ${stored} stored`
          )
          // The last one may be stored without its acknowledgement.
          assert.include([acknowledged, acknowledged + 1], stored)
        }),
      timeout
    )

    it.effect(
      "loses and doubles no turn when a host is partitioned from NATS for 30 s, and its runs go on afterwards",
      () =>
        Effect.gen(function* () {
          const { cut, heal, model } = yield* ContainerCluster
          const { ended, plans } = yield* startRuns("cut")
          yield* model.release("begin")
          yield* model.awaitHeld("author")
          const { host, runs: hosted } = yield* busiestHost
          yield* cut(host)
          // Turns end meanwhile, of which nobody can be told.
          yield* model.release("author")
          yield* model.release("reviewer")
          yield* Effect.sleep("30 seconds")
          yield* heal(host)
          const healedMs = Date.now()
          yield* ended
          const calls = yield* requireCalls(plans)
          assert.strictEqual(calls, runs * callsOfRun)
          say(
            `${host} with ${hosted} runs was cut off for 30 s: all ${runs} completed ${inSeconds(Date.now() - healedMs)} after it was healed, with ${calls} calls of the model`
          )
        }),
      timeout
    )

    it.effect(
      "goes on elsewhere with the runs of a host that is destroyed with its volume",
      () =>
        Effect.gen(function* () {
          const { destroyHost, model, newHost } = yield* ContainerCluster
          const { ended, outputs, plans } = yield* startRuns("gone")
          yield* model.release("begin")
          yield* Effect.forEach(plans, (planPath) =>
            model.awaitCall(
              ({ messages, phase, role }) =>
                role === "author" && phase === "2" && messages[0]?.text.includes(planPath) === true
            )
          )
          const { host, runs: hosted } = yield* busiestHost
          yield* destroyHost(host)
          const destroyedMs = Date.now()
          yield* insist("hosts", "forget", host, "--json")
          yield* model.release("author")
          yield* model.release("reviewer")
          yield* ended
          const moved = (yield* outputs).filter(({ output }) => /is gone: the run moves elsewhere/.test(output)).length
          assert.strictEqual(moved, hosted)
          say(
            `${host} was destroyed with ${hosted} runs: all ${runs} completed on the other after ${inSeconds(Date.now() - destroyedMs)}`
          )
          yield* newHost(host)
        }),
      timeout
    )

    it.effect(
      `fails none of ${runs} runs while each NATS server and ${isFull ? "every service" : "a replica of every service"} is replaced by its next release`,
      () =>
        Effect.gen(function* () {
          const { model, nats, parts } = yield* ContainerCluster
          const gaps = yield* writeGaps(nats, "roll")
          const { ended, plans } = yield* startRuns("roll")
          const started = Date.now()
          yield* model.release("begin")
          const replaced = parts.filter(({ kind, spec }) => kind === "nats" || isFull || spec.name.endsWith("-2"))
          const third = Math.ceil(replaced.length / 3)
          for (const [n, part] of replaced.entries()) {
            if (part.spec.name === natsServers.at(-1)) yield* model.release("author")
            if (n === 2 * third) yield* model.release("reviewer")
            yield* replaceAndTell(gaps, part)
          }
          yield* ended
          const calls = yield* requireCalls(plans)
          const { acknowledged, stored } = yield* gaps.counted
          say(
            `${runs} runs completed in ${inSeconds(Date.now() - started)} with ${replaced.length} containers replaced: ${calls} calls of the model, ${runs * callsOfRun} without; ${acknowledged} appends acknowledged, ${stored} stored`
          )
          assert.include([acknowledged, acknowledged + 1], stored)
        }),
      timeout
    )

    // The last one: what is refused here is in the servers' logs.
    it.effect(
      "refuses each identity what is not its job, on each NATS server",
      () =>
        Effect.gen(function* () {
          const { connect, refusals } = yield* ContainerCluster
          const before = (yield* refusals).length
          for (const server of natsServers) {
            for (const self of identities) {
              const { nc } = yield* connect(self, server)
              const attempts = [...identities.flatMap((other) => pairOf(self, other).refused), ...forbiddenFor(self)]
              const refused = yield* refusalsOf(nc, attempts)
              assert.deepStrictEqual(titlesOf(refused), titlesOf(attempts), `${self} at ${server}`)
            }
          }
          assert.isAbove((yield* refusals).length, before, "the servers' logs tell of it")
        }).pipe(Effect.provideService(References.MinimumLogLevel, "None")),
      timeout
    )
  })
})
