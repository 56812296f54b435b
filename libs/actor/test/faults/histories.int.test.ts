/** Concurrent commits to one actor's journal, through a storm: their history is linearizable. */
import { assert, it } from "@effect/vitest"
import { subjects } from "@reprise/protocol"
import { findViolation, type Model, makeNatsProxy, type Operation, stormOf } from "@reprise/testing"
import { Context, Effect, Schedule } from "effect"
import { Broker, type BrokerShape } from "../../src/index.ts"
import { message } from "../support/deliveries.ts"
import { jetStream } from "../support/jetStream.ts"
import { onServer, ownServerWorld, processOn } from "../support/systems.ts"

const subject = subjects("t").journal("escalation", "a")

/** A commit names the entry that it follows, or nothing; a look shows the newest entry. */
type Use = { readonly commit: string; readonly after: string } | "look"
type Seen = "committed" | "conflict" | { readonly newest: string }

/** The newest entry of a journal. */
const journal: Model<string, Use, Seen> = {
  initial: "",
  step: (newest, use, seen) => {
    if (use === "look") return typeof seen === "object" && seen.newest !== newest ? undefined : newest
    const isNext = use.after === newest
    if (seen !== undefined && isNext !== (seen === "committed")) return undefined
    return isNext ? use.commit : newest
  },
  show: (newest) => newest
}

/** Each writer looks, and commits what follows; a few entries are objects of their own. */
const write = Effect.fnUntraced(function* (
  broker: BrokerShape,
  writer: number,
  history: Array<Operation<Use, Seen>>,
  commits: number
) {
  const noting = <A, E>(input: Use, use: Effect.Effect<A, E>, read: (value: A) => Seen) =>
    Effect.gen(function* () {
      const calledAt = performance.now()
      const value = yield* Effect.option(Effect.map(use, (found) => ({ found, seen: read(found) })))
      const seen = value._tag === "Some" ? value.value : undefined
      history.push({ input, output: seen?.seen, calledAt, returnedAt: performance.now() })
      return seen?.found
    })
  for (let n = 0; n < commits; n++) {
    const newest = yield* noting("look", broker.last("journal", subject), (found) => ({
      newest: found?.header("ce-id") ?? ""
    }))
    const id = `${writer}-${n}`
    const body = n % 5 === writer ? JSON.stringify("x".repeat(600_000)) : "{}"
    const committing = broker.append(message(subject, id, body), newest?.sequence ?? 0).pipe(
      Effect.as("committed" as const),
      Effect.catchTag("Conflict", () => Effect.succeed("conflict" as const))
    )
    yield* noting({ commit: id, after: newest?.header("ce-id") ?? "" }, committing, (seen) => seen)
  }
})

const seeds = Number(process.env["REPRISE_FAULT_SEEDS"] ?? "4")

onServer(
  "commits of three processes to one journal",
  () => {
    for (let seed = 0; seed < seeds; seed++) {
      it.live(`are linearizable through a storm, and everything that was committed can be read (seed ${seed})`, () =>
        Effect.gen(function* () {
          const world = yield* ownServerWorld()
          const proxy = yield* makeNatsProxy(world.server.url)
          const direct = Context.get(yield* world.start(), Broker)
          const brokers = yield* Effect.forEach([0, 1, 2], (writer) =>
            processOn(jetStream(proxy.url, {}, { name: `writer-${writer}`, requestTimeoutMs: 500 }), []).pipe(
              // The limit is for the storm; on a busy machine opening takes longer.
              Effect.retry(Schedule.spaced("100 millis")),
              Effect.map((process) => Context.get(process, Broker))
            )
          )
          proxy.use(stormOf(seed, 60))
          const history: Array<Operation<Use, Seen>> = []
          yield* Effect.all(
            brokers.map((broker, writer) => write(broker, writer, history, 12)),
            { concurrency: "unbounded" }
          )
          proxy.heal()
          const entries = yield* direct.read("journal", subject, 0)
          for (const { body } of entries) yield* body
          const now = performance.now()
          const newest = entries.at(-1)?.header("ce-id") ?? ""
          history.push({ input: "look", output: { newest }, calledAt: now, returnedAt: now })
          // A slow append may have been stored without its writer hearing of it.
          assert.isAbove(entries.length, 5)
          assert.isUndefined(findViolation(journal, history))
        }).pipe(Effect.scoped)
      )
    }
  },
  { concurrent: true }
)
