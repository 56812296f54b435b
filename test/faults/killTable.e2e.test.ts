import { execFileSync } from "node:child_process"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { AgentRuntime } from "@reprise/agent"
import type { ScriptInput } from "@reprise/testing/scriptedModel"
import { Effect, Layer, type Scope } from "effect"
import { attached } from "../harness/attach.ts"
import { Cluster, type ClusterShape, clusterLayer } from "../harness/Cluster.ts"
import { needsHuman, on, plan } from "../harness/story.ts"
import { sessionOf, turnIn } from "../harness/turns.ts"

type Session = Effect.Success<ReturnType<typeof sessionOf>>

/** Where a turn is when it is hit. What is passed is never asked of the model again. */
interface Moment {
  readonly when: string
  /** The first prompt says it: the model plays this moment's part. */
  readonly word: string
  /** Completes when the turn is there, and stays there. Gives what lets it go on once the damage is done. */
  readonly reached: (cluster: ClusterShape, session: Session) => Effect.Effect<Effect.Effect<void>, Error, Scope.Scope>
  /** Calls of the model: one that was cut off is made again, and only that. */
  readonly calls: (target: Target) => ReadonlyArray<string>
  /** How often the turn's prompts were sent in all; undefined: what was on its way may have arrived, or not. */
  readonly attempts?: (target: Target) => number
}

type Target = "the session-manager" | "OpenCode" | "both" | "the broker"

const hits: Readonly<Record<Target, (cluster: ClusterShape) => Effect.Effect<void, Error>>> = {
  "the session-manager": ({ kill }) => kill("session-manager"),
  OpenCode: ({ killOpenCode }) => killOpenCode,
  both: ({ kill, killOpenCode }) => Effect.andThen(killOpenCode, kill("session-manager")),
  "the broker": ({ killBroker }) => killBroker
}

const outside = ({ world }: ClusterShape, name: string) => join(world.root, "..", name)

/** The agent's answer is there and can be told to nobody: the broker stands still. */
const answeredUnheard = (hold: string) =>
  Effect.fnUntraced(function* (cluster: ClusterShape, session: Session) {
    const { model } = cluster.world
    yield* session.start
    const { runtimeSessionId } = yield* session.event("SessionCreated")
    yield* model.awaitHeld(hold)
    yield* cluster.freezeBroker
    yield* model.release(hold)
    yield* attached(
      cluster.world,
      AgentRuntime.use((runtime) => runtime.inspect(runtimeSessionId)).pipe(
        Effect.repeat({ until: ({ lastMessage, state }) => state._tag === "idle" && lastMessage?.finished === true })
      )
    )
    return cluster.thawBroker
  })

/** Nothing but the broker can go away without the prompt being sent again. */
const cutOff = (target: Target) => (target === "the broker" ? 1 : 2)

const work = "work 0"
const done = "work 1"
const report = "report 0"

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
    calls: () => [work, done, report],
    attempts: () => 1
  },
  {
    when: "when the prompt is sent and unanswered",
    word: "unanswered",
    reached: Effect.fnUntraced(function* ({ world }, session) {
      yield* session.start
      yield* world.model.awaitHeld("unanswered")
      return world.model.release("unanswered")
    }),
    calls: (target) => (target === "the broker" ? [work, done, report] : [work, work, done, report]),
    attempts: cutOff
  },
  {
    when: "while a tool runs",
    word: "at work",
    reached: Effect.fnUntraced(function* (cluster, session) {
      execFileSync("mkfifo", [outside(cluster, "tool.fifo")])
      yield* session.start
      // Opened once the tool reads from it.
      const fifo = yield* Effect.acquireRelease(
        Effect.promise(() => open(outside(cluster, "tool.fifo"), "w")),
        (file) =>
          Effect.promise(async () => {
            await file.close()
            execFileSync("rm", [outside(cluster, "tool.fifo")])
          })
      )
      // A tool that was ended with its runtime reads no more.
      return Effect.ignore(Effect.promise(() => fifo.write("go on\n")))
    }),
    calls: () => [work, done, report],
    attempts: cutOff
  },
  {
    when: "when the work is done and the report not asked for",
    word: "unreported",
    reached: answeredUnheard("unreported"),
    calls: () => [work, done, report]
  },
  {
    when: "when the report is received and not recorded",
    word: "unrecorded",
    reached: answeredUnheard("unrecorded"),
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

const targets: ReadonlyArray<Target> = ["the session-manager", "OpenCode", "both", "the broker"]
const cases = moments.flatMap((moment) => targets.map((target) => ({ moment, target })))

const world = Layer.effectDiscard(Effect.flatMap(Cluster, ({ serve }) => serve("session-manager"))).pipe(
  Layer.provideMerge(clusterLayer({ plan: plan("One"), script }))
)

layer(world, { excludeTestServices: true, timeout: "60 seconds" })("kill -9", (it) => {
  for (const [index, { moment, target }] of cases.entries()) {
    it.effect(`of ${target} ${moment.when}: the turn completes once, no prompt is sent twice`, () =>
      Effect.gen(function* () {
        const cluster = yield* Cluster
        const { model, root } = cluster.world
        for (const hold of ["unanswered", "unreported", "unrecorded"]) yield* model.rearm(hold)
        const session = yield* sessionOf(turnIn(`kill${index}`, root, moment.word))

        const goOn = yield* moment.reached(cluster, session)
        yield* hits[target](cluster)
        yield* goOn
        if (target !== "OpenCode" && target !== "the broker") yield* cluster.serve("session-manager")

        assert.deepStrictEqual(yield* session.story, ["SessionCreated", "TurnStarted", "AgentWorking", "TurnCompleted"])
        const { runtimeSessionId } = yield* session.event("SessionCreated")
        const calls = (yield* model.calls).filter((call) => call.session === runtimeSessionId)
        assert.deepStrictEqual(
          calls.map(({ kind, step }) => `${kind} ${step}`),
          moment.calls(target)
        )
        const prompts = calls.at(-1)?.messages.filter(({ role }) => role === "user") ?? []
        assert.strictEqual(prompts.length, 2, "one to work and one to report")
        const { attempts } = yield* session.event("TurnCompleted")
        if (moment.attempts !== undefined) assert.strictEqual(attempts, moment.attempts(target))
      })
    )
  }
})
