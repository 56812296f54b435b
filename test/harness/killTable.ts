/** One test for each process that can be killed at each moment of a turn; the same for every agent runtime. */
import { execFileSync } from "node:child_process"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { AgentRuntime, type Inspection } from "@reprise/agent"
import { type Mark, markedProcesses } from "@reprise/process"
import type { RuntimeName } from "@reprise/protocol"
import type { ScriptInput } from "@reprise/scripted-model"
import { Context, Effect, Layer, Schedule, type Scope } from "effect"
import { Cluster, type ClusterShape, clusterLayer } from "./Cluster.ts"
import { needsHuman, on, plan } from "./modelScript.ts"
import { sessionOf, turnIn } from "./sessionTurn.ts"
import type { World, WorldOptions } from "./World.ts"
import { waitUntil } from "./waitUntil.ts"

type Session = Effect.Success<ReturnType<typeof sessionOf>>

/** Holds a turn at a moment. Returns the effect that lets the turn continue after the kill. */
type Reach = (cluster: ClusterShape, session: Session) => Effect.Effect<Effect.Effect<void>, Error, Scope.Scope>

export type Target = "the session-manager" | "the agent" | "both" | "the broker"

export interface KilledRuntime {
  readonly runtime: RuntimeName
  readonly world?: Pick<WorldOptions, "environment">
  /** The environment variable that marks the agent's processes, which end a moment after the session-manager. */
  readonly mark: `REPRISE_${string}_STATE`
  /** Sends SIGKILL to the agent, but not to its guard or its tools. */
  readonly kill: (cluster: ClusterShape) => Effect.Effect<void, Error>
  /** Stops the agent before it gets its prompt. */
  readonly unasked: Reach
  /** Runs an effect with an `AgentRuntime` for the world's agents, beside the session-manager. */
  readonly withAgentRuntime: <A, E>(world: World, effect: Effect.Effect<A, E, AgentRuntime>) => Effect.Effect<A, E>
  /** The first words of the prompt that continues a turn after a kill during a tool, if the agent needs one. */
  readonly continuation?: string
  /** The prompt that nobody has answered is in its record: the turn is continued then, too. */
  readonly keepsUnanswered?: true
}

interface Moment {
  readonly when: string
  /** The prompt contains it, so that the model plays the rules of this moment. */
  readonly word: string
  readonly reached: Reach
  /** The agent has answered when it is killed, but nothing could be published: the broker was frozen before. */
  readonly unheard?: true
  /** The calls that the model gets. Only a call that was cut off is repeated. */
  readonly calls: (target: Target) => ReadonlyArray<string>
  /** The number of prompts in addition to the two of every turn. */
  readonly continuations?: (target: Target) => number
  /** How often the turn's prompts were sent; undefined where a prompt on its way may or may not have arrived. */
  readonly attempts?: (target: Target) => number
}

const fifoIn = ({ world }: ClusterShape, name: string) => join(world.root, "..", name)

/** Completes once a tool reads from the pipe. Returns the effect that lets the tool continue. */
export const readerOf = Effect.fnUntraced(function* (cluster: ClusterShape, name: string) {
  const path = fifoIn(cluster, name)
  const fifo = yield* Effect.acquireRelease(
    Effect.promise(() => open(path, "w")),
    (file) => Effect.promise(() => file.close())
  )
  execFileSync("rm", [path])
  // The reader may have been killed meanwhile.
  return Effect.ignore(Effect.tryPromise(() => fifo.write("go on\n")))
})

export const makeFifo = (cluster: ClusterShape, name: string) =>
  Effect.sync(() => execFileSync("mkfifo", [fifoIn(cluster, name)]))

/** Starts the turn, and waits until the model holds the answer of this name. */
const heldAt =
  (hold: string): Reach =>
  ({ world: { model } }, session) =>
    session.start.pipe(Effect.andThen(model.awaitHeld(hold)), Effect.as(model.release(hold)))

/** Waits until the agent's own record of the session is as described. Each look is one of its own: some agents are read once. */
const seen = (
  { withAgentRuntime }: KilledRuntime,
  { world }: ClusterShape,
  runtimeSessionId: string,
  until: (it: Inspection) => boolean
) =>
  withAgentRuntime(
    world,
    AgentRuntime.use((runtime) => runtime.inspect(runtimeSessionId))
  ).pipe(Effect.repeat({ until, schedule: Schedule.spaced("50 millis") }), Effect.orDie)

const hasAnswered = ({ lastMessage, state }: Inspection): boolean =>
  state._tag === "idle" && lastMessage?.finished === true

const momentsOf = (killed: KilledRuntime): ReadonlyArray<Moment> => {
  const { continuation, keepsUnanswered = false, unasked } = killed
  /** Only a kill of the broker does not make the prompt be sent again. */
  const cutOff = (target: Target) => (target === "the broker" ? 1 : 2)
  const isContinued = (target: Target) => continuation !== undefined && target !== "the broker"
  const [work, done, report] = ["work 0", "work 1", "report 0"]
  return [
    {
      when: "before the prompt",
      word: "unasked",
      reached: unasked,
      calls: () => [work, done, report]
    },
    {
      when: "while the prompt is unanswered",
      word: "unanswered",
      reached: heldAt("unanswered"),
      calls: (target) => {
        if (target === "the broker") return [work, done, report]
        return keepsUnanswered ? [work, work, report] : [work, work, done, report]
      },
      continuations: (target) => (keepsUnanswered && isContinued(target) ? 1 : 0),
      attempts: cutOff
    },
    {
      when: "while a tool runs",
      word: "at work",
      reached: Effect.fnUntraced(function* (cluster, session) {
        yield* makeFifo(cluster, "tool.fifo")
        yield* session.start
        const goOn = yield* readerOf(cluster, "tool.fifo")
        // Claude records a tool call a moment after it has begun. A call that is not recorded is repeated.
        const { runtimeSessionId } = yield* session.event("SessionCreated")
        yield* seen(killed, cluster, runtimeSessionId, ({ lastMessage }) => lastMessage?.role === "assistant")
        return goOn
      }),
      calls: (target) => (isContinued(target) ? [work, work, report] : [work, done, report]),
      continuations: (target) => (isContinued(target) ? 1 : 0),
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
}

const about = (word: string, kind: "work" | "report") => ({ firstUser: { regex: `: ${word}$`, flags: "m" }, kind })
const runs = "echo run >> tool.log"

const scriptOf = ({ continuation }: KilledRuntime): ScriptInput => ({
  rules: [
    ...(continuation === undefined ? [] : [on({ lastUser: continuation }, { text: "Done." })]),
    on(about("unanswered", "work"), [{ hold: "unanswered", bash: runs }, { text: "Done." }]),
    on(about("at work", "work"), [{ bash: `${runs}; read line < ../tool.fifo` }, { text: "Done." }]),
    on(about("unreported", "work"), [{ bash: runs }, { hold: "unreported", text: "Done." }]),
    on(about("unrecorded", "report"), [{ hold: "unrecorded", report: { result: "needs_human", reason: "why" } }]),
    on({ kind: "report" }, needsHuman("why")),
    on({ kind: "work" }, [{ bash: runs }, { text: "Done." }])
  ]
})

/** Only a turn that is asked for its report has all of these moments. */
const configOf = ({ runtime }: KilledRuntime) =>
  `permissions = "all"\nruntime = "${runtime}"\n[sessions]\nreport = "asked"\n`

const targets: ReadonlyArray<Target> = ["the session-manager", "the agent", "both", "the broker"]

const untilNoneMarked = (mark: Mark) =>
  waitUntil(Effect.map(markedProcesses(mark), (pids) => (pids.length === 0 ? true : undefined)))

/** The sessions whose turns one kill struck. */
class Struck extends Context.Service<Struck, ReadonlyMap<Moment, Session>>()("test/Struck") {}

const hits = (
  killed: KilledRuntime
): Readonly<Record<Target, (cluster: ClusterShape) => Effect.Effect<void, Error>>> => ({
  "the session-manager": ({ kill }) => kill("session-manager"),
  "the agent": killed.kill,
  both: (cluster) => Effect.andThen(killed.kill(cluster), cluster.kill("session-manager")),
  "the broker": ({ killBroker }) => killBroker
})

/** Brings one turn to each of the moments, kills the target once, and lets everything continue. */
const strike = Effect.fnUntraced(function* (killed: KilledRuntime, target: Target, moments: ReadonlyArray<Moment>) {
  const cluster = yield* Cluster
  const { model, root } = cluster.world
  for (const hold of ["unanswered", "unreported", "unrecorded"]) yield* model.rearm(hold)
  const turns = yield* Effect.forEach(
    moments,
    Effect.fnUntraced(function* (moment) {
      const name = `${target} ${moment.word}`.replaceAll(" ", "-")
      const session = yield* sessionOf(turnIn(name, root, moment.word, { runtime: killed.runtime }))
      return { moment, session, goOn: yield* moment.reached(cluster, session) }
    })
  )
  const answered = turns.filter(({ moment }) => moment.unheard)
  const created = yield* Effect.forEach(answered, ({ session }) => session.event("SessionCreated"))
  if (answered.length > 0) yield* cluster.freezeBroker
  for (const { goOn } of answered) yield* goOn
  for (const { runtimeSessionId } of created) yield* seen(killed, cluster, runtimeSessionId, hasAnswered)

  yield* hits(killed)[target](cluster)
  const ended = target === "the session-manager" || target === "both"
  // An agent may outlive its session-manager by a moment, and must not continue meanwhile.
  if (ended) yield* untilNoneMarked(`${killed.mark}=${join(root, ".reprise")}`)
  yield* cluster.thawBroker
  for (const { goOn } of turns) yield* goOn
  if (ended) yield* cluster.serve("session-manager")
  return new Map(turns.map(({ moment, session }) => [moment, session]))
})

/** Defines the tests for one agent runtime. */
export const killTable = (killed: KilledRuntime): void => {
  const moments = momentsOf(killed)
  // To keep a turn unasked its agent may be frozen, and then it does not work for the other turns.
  const rounds = [moments.filter(({ word }) => word !== "unasked"), moments.filter(({ word }) => word === "unasked")]
  const world = Layer.effectDiscard(Effect.flatMap(Cluster, ({ serve }) => serve("session-manager"))).pipe(
    Layer.provideMerge(
      clusterLayer({ plan: plan("One"), script: scriptOf(killed), config: configOf(killed), ...killed.world })
    )
  )

  layer(world, { excludeTestServices: true, timeout: "30 minutes" })("a turn survives kill -9", (it) => {
    for (const [target, round] of targets.flatMap((target) => rounds.map((round) => [target, round] as const))) {
      const struck = Layer.effect(Struck, strike(killed, target, round))
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
              assert.strictEqual(prompts.length, 2 + (moment.continuations?.(target) ?? 0))
              const { attempts } = yield* session.event("TurnCompleted")
              if (moment.attempts !== undefined) assert.strictEqual(attempts, moment.attempts(target))
            })
          )
        }
      })
    }
  })
}
