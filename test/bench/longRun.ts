/**
 * How long a fresh orchestrator takes to answer for a run of ten thousand events, compared with one of a hundred. The runs
 * are a recorded one (`longRun.jsonl`) whose review finds something again and again.
 */
import { readFileSync } from "node:fs"
import { ActorConfig, actorLayer, Broker, drain, JetStreamBroker, type Message, Messenger } from "@reprise/actor"
import { ensureStreams } from "@reprise/nats"
import { runActor } from "@reprise/orchestrator"
import { Key, RunId, subjects, to } from "@reprise/protocol"
import { Effect, Layer, Schema } from "effect"
import { embedded } from "./embedded.ts"
import { compareFirstAnswers } from "./firstAnswers.ts"

const prefix = "bench"
const wanted = { short: 100, long: 10_000 }

const Recorded = Schema.fromJsonString(
  Schema.Struct({ subject: Schema.optionalKey(Schema.String), body: Schema.optionalKey(Schema.String) })
)
const readRecorded = Schema.decodeUnknownSync(Recorded)
const readEvents = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ events: Schema.Array(Schema.Struct({ _tag: Schema.String })) }))
)
const eventsIn = (body: string): ReadonlyArray<string> => readEvents(body).events.map(({ _tag }) => _tag)

const recorded = readFileSync(new URL("./longRun.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => readRecorded(line))
  .flatMap(({ body, subject }) => (body !== undefined && subject?.includes(".journal.run.") === true ? [body] : []))

const firstWith = (event: string, after = 0) =>
  recorded.findIndex((body, n) => n >= after && eventsIn(body).includes(event))

/** From a verdict that finds something to the one that follows. */
const cycleBegins = firstWith("VerdictAccepted")
const cycleEnds = firstWith("VerdictAccepted", cycleBegins + 1)
const beginning = recorded.slice(0, cycleBegins)
const cycle = recorded.slice(cycleBegins, cycleEnds)
const countOf = (bodies: ReadonlyArray<string>) => bodies.reduce((sum, body) => sum + eventsIn(body).length, 0)

/** Each cycle has commits of its own. */
const nthCycle = (n: number): ReadonlyArray<string> =>
  cycle.map((body) =>
    body.replaceAll(/\b[0-9a-f]{40}\b/g, (sha) => `${n.toString(16).padStart(8, "0")}${sha.slice(8)}`)
  )

/** The entries of a run of so many events, or a few more. */
const journalOf = (events: number): ReadonlyArray<string> => {
  const cycles = Math.ceil((events - countOf(beginning)) / countOf(cycle))
  return [...beginning, ...Array.from({ length: cycles }, (_, n) => nthCycle(n)).flat()]
}

const system = actorLayer(runActor).pipe(
  Layer.provideMerge(Messenger.layer),
  Layer.provideMerge(JetStreamBroker.layer),
  Layer.provideMerge(ActorConfig.layer({ prefix })),
  Layer.fresh
)

/** Stores the run as it was written, and lets it take one command: then it has a snapshot, as a run that was alive. */
const write = Effect.gen(function* () {
  const broker = yield* Broker
  const messenger = yield* Messenger
  for (const [name, events] of Object.entries(wanted)) {
    const bodies = journalOf(events)
    process.stdout.write(`${name}: ${countOf(bodies)} events in ${bodies.length} entries\n`)
    let sequence = 0
    for (const [n, body] of bodies.entries()) {
      const message: Message = {
        subject: subjects(prefix).journal("run", Key.make(name)),
        body,
        meta: {
          id: `${name}-${n}`,
          type: "JournalEntry",
          source: "/bench",
          subject: name,
          time: new Date().toISOString()
        }
      }
      sequence = yield* broker.append(message, sequence)
    }
    yield* messenger.send(to.orchestrator(RunId.make(name)).ResumeRun({ runId: RunId.make(name) }))
  }
  yield* drain
}).pipe(Effect.provide(system))

const measure = Effect.gen(function* () {
  yield* ensureStreams(prefix, { storageBytes: 512 * 1024 ** 2 })
  yield* write
  yield* compareFirstAnswers(system, { short: "the short run", long: "the long run" })
})

export const longRun = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.provide(embedded)))

if (import.meta.main) await longRun()
