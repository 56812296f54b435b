// @module-tag long
/**
 * One test for each process that can be killed at each moment of a turn on OpenCode. What other agents keep when they are
 * killed is in `libs/agent/test`.
 */
import { execFileSync } from "node:child_process"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { AgentRuntime, type Inspection } from "@reprise/agent"
import { markedProcesses } from "@reprise/process"
import type { ScriptInput } from "@reprise/scripted-model"
import { Context, Effect, Layer, Schedule, type Scope } from "effect"
import { Cluster, type ClusterShape, clusterLayer } from "../harness/Cluster.ts"
import { needsHuman, on, plan } from "../harness/modelScript.ts"
import { withAgentRuntime } from "../harness/openCodeUser.ts"
import { sessionOf, turnIn } from "../harness/sessionTurn.ts"
import { waitUntil } from "../harness/waitUntil.ts"

type Session = Effect.Success<ReturnType<typeof sessionOf>>

/** Holds a turn at a moment. Returns the effect that lets the turn continue after the kill. */
type Reach = (cluster: ClusterShape, session: Session) => Effect.Effect<Effect.Effect<void>, Error, Scope.Scope>

type Target = "the session-manager" | "the agent" | "both" | "the broker"

interface Moment {
  readonly when: string
  /** The prompt contains it, so that the model plays the rules of this moment. */
  readonly word: string
  readonly reached: Reach
  /** The agent has answered when it is killed, but nothing could be published: the broker was frozen before. */
  readonly unheard?: true
  /** The calls that the model gets. Only a call that was cut off is repeated. */
  readonly calls: (target: Target) => ReadonlyArray<string>
  /** How often the turn's prompts were sent; undefined where a prompt on its way may or may not have arrived. */
  readonly attempts?: (target: Target) => number
}

const fifoIn = ({ world }: ClusterShape, name: string) => join(world.root, "..", name)

/** Completes once a tool reads from the pipe. Returns the effect that lets the tool continue. */
const readerOf = Effect.fnUntraced(function* (cluster: ClusterShape, name: string) {
  const path = fifoIn(cluster, name)
  const fifo = yield* Effect.acquireRelease(
    Effect.promise(() => open(path, "w")),
    (file) => Effect.promise(() => file.close())
  )
  execFileSync("rm", [path])
  // The reader may have been killed meanwhile.
  return Effect.ignore(Effect.tryPromise(() => fifo.write("go on\n")))
})

const makeFifo = (cluster: ClusterShape, name: string) =>
  Effect.sync(() => execFileSync("mkfifo", [fifoIn(cluster, name)]))

/** Starts the turn, and waits until the model holds the answer of this name. */
const heldAt =
  (hold: string): Reach =>
  ({ world: { model } }, session) =>
    session.start.pipe(Effect.andThen(model.awaitHeld(hold)), Effect.as(model.release(hold)))

/** Waits until the agent's own record of the session is as described. */
const seen = ({ world }: ClusterShape, runtimeSessionId: string, until: (it: Inspection) => boolean) =>
  withAgentRuntime(
    world,
    AgentRuntime.use((runtime) => runtime.inspect(runtimeSessionId))
  ).pipe(Effect.repeat({ until, schedule: Schedule.spaced("50 millis") }), Effect.orDie)

const hasAnswered = ({ lastMessage, state }: Inspection): boolean =>
  state._tag === "idle" && lastMessage?.finished === true

const [work, done, report] = ["work 0", "work 1", "report 0"]

/** Only a kill of the broker does not make the prompt be sent again. */
const cutOff = (target: Target) => (target === "the broker" ? 1 : 2)

const moments: ReadonlyArray<Moment> = [
  {
    when: "before the prompt",
    word: "unasked",
    reached: Effect.fnUntraced(function* (cluster, session) {
      yield* cluster.freezeOpenCode
      yield* session.start
      yield* Effect.eventually(session.view)
      return cluster.thawOpenCode
    }),
    calls: () => [work, done, report]
  },
  {
    when: "while the prompt is unanswered",
    word: "unanswered",
    reached: heldAt("unanswered"),
    calls: (target) => (target === "the broker" ? [work, done, report] : [work, work, done, report]),
    attempts: cutOff
  },
  {
    when: "while a tool runs",
    word: "at work",
    reached: Effect.fnUntraced(function* (cluster, session) {
      yield* makeFifo(cluster, "tool.fifo")
      yield* session.start
      return yield* readerOf(cluster, "tool.fifo")
    }),
    calls: () => [work, done, report],
    attempts: cutOff
  },
  {
    when: "after the work and before the report prompt",
    word: "unreported",
    reached: heldAt("unreported"),
    unheard: true,
    calls: () => [work, done, report]
  },
  {
    when: "after the report and before it is recorded",
    word: "unrecorded",
    reached: heldAt("unrecorded"),
    unheard: true,
    calls: () => [work, done, report]
  }
]

const about = (word: string, kind: "work" | "report") => ({ firstUser: { regex: `: ${word}$`, flags: "m" }, kind })
const runs = "echo run >> tool.log"

const script: ScriptInput = {
  rules: [
    on(about("unanswered", "work"), [{ hold: "unanswered", bash: runs }, { text: "Done." }]),
    on(about("at work", "work"), [{ bash: `${runs}; read line < ../tool.fifo` }, { text: "Done." }]),
    on(about("unreported", "work"), [{ bash: runs }, { hold: "unreported", text: "Done." }]),
    on(about("unrecorded", "report"), [{ hold: "unrecorded", report: { result: "needs_human", reason: "why" } }]),
    on({ kind: "report" }, needsHuman("why")),
    on({ kind: "work" }, [{ bash: runs }, { text: "Done." }])
  ]
}

/** Only a turn that is asked for its report has all of these moments. */
const config = 'permissions = "all"\n[sessions]\nreport = "asked"\n'

const targets: ReadonlyArray<Target> = ["the session-manager", "the agent", "both", "the broker"]

const untilNoneMarked = (state: string) =>
  waitUntil(
    Effect.map(markedProcesses(`REPRISE_OPENCODE_STATE=${state}`), (pids) => (pids.length === 0 ? true : undefined))
  )

/** The sessions whose turns one kill struck. */
class Struck extends Context.Service<Struck, ReadonlyMap<Moment, Session>>()("test/Struck") {}

const hits: Readonly<Record<Target, (cluster: ClusterShape) => Effect.Effect<void, Error>>> = {
  "the session-manager": ({ kill }) => kill("session-manager"),
  "the agent": ({ killOpenCode }) => killOpenCode,
  both: (cluster) => Effect.andThen(cluster.killOpenCode, cluster.kill("session-manager")),
  "the broker": ({ killBroker }) => killBroker
}

/** Brings one turn to each of the moments, kills the target once, and lets everything continue. */
const strike = Effect.fnUntraced(function* (target: Target, moments: ReadonlyArray<Moment>) {
  const cluster = yield* Cluster
  const { model, root } = cluster.world
  for (const hold of ["unanswered", "unreported", "unrecorded"]) yield* model.rearm(hold)
  const turns = yield* Effect.forEach(
    moments,
    Effect.fnUntraced(function* (moment) {
      const name = `${target} ${moment.word}`.replaceAll(" ", "-")
      const session = yield* sessionOf(turnIn(name, root, moment.word))
      return { moment, session, goOn: yield* moment.reached(cluster, session) }
    })
  )
  const answered = turns.filter(({ moment }) => moment.unheard)
  const created = yield* Effect.forEach(answered, ({ session }) => session.event("SessionCreated"))
  if (answered.length > 0) yield* cluster.freezeBroker
  for (const { goOn } of answered) yield* goOn
  for (const { runtimeSessionId } of created) yield* seen(cluster, runtimeSessionId, hasAnswered)

  yield* hits[target](cluster)
  const ended = target === "the session-manager" || target === "both"
  // An agent may outlive its session-manager by a moment, and must not continue meanwhile.
  if (ended) yield* untilNoneMarked(join(root, ".reprise"))
  yield* cluster.thawBroker
  for (const { goOn } of turns) yield* goOn
  if (ended) yield* cluster.serve("session-manager")
  return new Map(turns.map(({ moment, session }) => [moment, session]))
})

// To keep a turn unasked OpenCode is frozen, and then it does not work for the other turns.
const rounds = [moments.filter(({ word }) => word !== "unasked"), moments.filter(({ word }) => word === "unasked")]
const world = Layer.effectDiscard(Effect.flatMap(Cluster, ({ serve }) => serve("session-manager"))).pipe(
  Layer.provideMerge(clusterLayer({ plan: plan("One"), script, config }))
)

layer(world, { excludeTestServices: true, timeout: "30 minutes" })("a turn survives kill -9", (it) => {
  for (const [target, round] of targets.flatMap((target) => rounds.map((round) => [target, round] as const))) {
    const struck = Layer.effect(Struck, strike(target, round))
    it.layer(struck, { timeout: "30 minutes" })(`of ${target}`, (it) => {
      for (const moment of round) {
        it.effect(`${moment.when}: it completes once, and the model sees no prompt twice`, () =>
          Effect.gen(function* () {
            const session = (yield* Struck).get(moment) ?? assert.fail("it was not struck")
            const { model } = (yield* Cluster).world
            const story = ["SessionCreated", "TurnStarted", "AgentWorking", "TurnCompleted"]
            assert.deepStrictEqual(yield* session.story, story)
            const { runtimeSessionId } = yield* session.event("SessionCreated")
            const calls = (yield* model.calls).filter(
              ({ kind, session: id }) => id === runtimeSessionId && kind !== "title"
            )
            assert.deepStrictEqual(
              calls.map(({ kind, step }) => `${kind} ${step}`),
              moment.calls(target)
            )
            const prompts = calls.at(-1)?.messages.flatMap((it) => (it.role === "user" ? [it.text] : [])) ?? []
            assert.strictEqual(new Set(prompts).size, prompts.length, "no prompt appears twice")
            assert.strictEqual(prompts.length, 2)
            const { attempts } = yield* session.event("TurnCompleted")
            if (moment.attempts !== undefined) assert.strictEqual(attempts, moment.attempts(target))
          })
        )
      }
    })
  }
})
