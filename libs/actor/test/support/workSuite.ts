/** Long work and timers. */
import { assert, describe } from "@effect/vitest"
import { anyHost, Host } from "@reprise/protocol"
import { Cause, Clock, Deferred, Effect } from "effect"
import { actorLayer, drain, Messenger, type Worker, WorkFault, workerLayer } from "../../src/index.ts"
import { CounterWork, counter, counterLayer, toCounter } from "./Counter.ts"
import { deadLettersOf, journalOf, show } from "./observe.ts"
import { type Stage, waitUntil } from "./systems.ts"

const count = actorLayer(counter)

const worker = (
  handle: Worker<CounterWork, Messenger>["handle"],
  more: Partial<Worker<CounterWork, Messenger, Messenger>> = {}
) =>
  workerLayer<CounterWork, Messenger, Messenger>({ service: "gate", host: anyHost, work: CounterWork, handle, ...more })

/** Reports to the actor, with an id that derives from the work's. */
const report: Worker<CounterWork, Messenger>["handle"] = ({ name }, { id, key }) =>
  Messenger.use((messenger) =>
    messenger.send(toCounter(key).Finish({ name }), { id: `${id}.done`, causation: id })
  ).pipe(
    Effect.asVoid,
    Effect.mapError((cause) => new WorkFault({ operation: "report", cause }))
  )

const askForWork = (names: ReadonlyArray<string>) =>
  Messenger.use((messenger) =>
    Effect.forEach(names, (name) => messenger.send(toCounter("a").AskForWork({ name })), { discard: true })
  )

const finished = Effect.map(journalOf("a"), (journal) =>
  journal
    .flatMap(({ events }) => events as ReadonlyArray<{ readonly _tag: string; readonly name?: string }>)
    .flatMap((event) => (event._tag === "Finished" ? [event.name] : []))
)

export const workSuite = (name: string, { open, test }: Stage) =>
  describe(name, () => {
    test("runs the work that an actor asks for, and the actor hears of it", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const one = yield* world.start(count, worker(report))
        yield* Effect.gen(function* () {
          yield* askForWork(["x", "y"])
          yield* drain
          assert.sameMembers([...(yield* finished)], ["x", "y"])
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("holds work with heartbeats for as long as it takes, and never runs it twice at once", () =>
      Effect.gen(function* () {
        // The ack wait is longer than a busy machine may keep a heartbeat waiting, and the work is longer than both.
        const world = yield* open({ ackWaitMs: 20_000, heartbeatMs: 300 })
        let runs = 0
        const slow = worker((work, context) =>
          Effect.suspend(() => {
            runs += 1
            return Effect.sleep("25 seconds")
          }).pipe(Effect.andThen(report(work, context)))
        )
        const one = yield* world.start(count, slow)
        const two = yield* world.start(slow)
        yield* askForWork(["x"]).pipe(Effect.andThen(drain), Effect.provide(one))
        assert.deepStrictEqual([runs, yield* finished.pipe(Effect.provide(two))], [1, ["x"]])
      }).pipe(Effect.scoped))

    test("runs no more at a time than it may, and takes the rest when it is free", () =>
      Effect.gen(function* () {
        const world = yield* open()
        /** The first piece of work runs until there is another beside it, however late that comes. */
        const twoRun = yield* Deferred.make<void>()
        let now = 0
        let most = 0
        const busy = worker(
          (work, context) =>
            Effect.sync(() => {
              now += 1
              most = Math.max(most, now)
              if (now === 2) Deferred.doneUnsafe(twoRun, Effect.void)
            }).pipe(
              Effect.andThen(Deferred.await(twoRun)),
              Effect.andThen(Effect.sleep("50 millis")),
              Effect.andThen(report(work, context)),
              Effect.ensuring(Effect.sync(() => (now -= 1)))
            ),
          { concurrency: 2 }
        )
        const one = yield* world.start(count, busy)
        const names = ["p", "q", "r", "s", "t"]
        yield* askForWork(names).pipe(Effect.andThen(drain), Effect.provide(one))
        assert.sameMembers([...(yield* finished.pipe(Effect.provide(one)))], names)
        assert.strictEqual(most, 2)
      }).pipe(Effect.scoped))

    test("hands work back at once when the process stops, and another takes it up", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const began = yield* Deferred.make<void>()
        const watching = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* world.start(worker(() => Effect.andThen(Deferred.succeed(began, undefined), Effect.never)))
          yield* askForWork(["x"]).pipe(Effect.provide(watching))
          yield* Deferred.await(began)
        }).pipe(Effect.scoped)
        const deliveries: Array<readonly [subject: string, delivery: number]> = []
        const two = yield* world.start(
          worker((work, context) => {
            deliveries.push([context.subject, context.delivery])
            return report(work, context)
          })
        )
        yield* drain.pipe(Effect.provide(two))
        const [[subject, delivery] = ["", 0]] = deliveries
        assert.strictEqual(subject, "a")
        assert.isAtLeast(delivery, 2)
        assert.deepStrictEqual(yield* finished.pipe(Effect.provide(two)), ["x"])
      }).pipe(Effect.scoped))

    test("tries failed work again, then gives it up, tells the actor, and sets it aside", () =>
      Effect.gen(function* () {
        const world = yield* open()
        let tries = 0
        const fails = worker(
          () =>
            Effect.suspend(() => {
              tries += 1
              return tries === 2
                ? Effect.die(new Error("a bug"))
                : Effect.fail(new WorkFault({ operation: "dig", cause: new Error("too hard") }))
            }),
          {
            attempts: 3,
            giveUp: ({ name }, cause, { id, key }) =>
              Messenger.use((messenger) =>
                messenger.send(toCounter(key).Finish({ name: `${name}: ${Cause.pretty(cause).slice(0, 40)}` }), {
                  id: `${id}.failed`
                })
              ).pipe(Effect.asVoid)
          }
        )
        const one = yield* world.start(count, fails)
        yield* Effect.gen(function* () {
          yield* askForWork(["x"])
          yield* waitUntil(Effect.map(deadLettersOf("a"), (found) => found.length === 1))
          yield* drain
          assert.strictEqual(tries, 3)
          assert.match(String((yield* finished)[0]), /^x: .*dig failed: too hard/)
          assert.match((yield* deadLettersOf("a"))[0]?.reason ?? "", /given up/)
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped))

    test("leaves work for another host alone", () =>
      Effect.gen(function* () {
        const world = yield* open()
        let ran = 0
        const elsewhere = worker(
          () =>
            Effect.sync(() => {
              ran += 1
            }),
          { host: Host.make("far") }
        )
        const near = counterLayer({
          react: (_state, events) =>
            events.flatMap((event) =>
              event._tag === "Asked"
                ? [
                    {
                      _tag: "RequestWork" as const,
                      host: Host.make(event.name),
                      work: { _tag: "Dig", name: event.name }
                    }
                  ]
                : []
            )
        })
        const one = yield* world.start(near, elsewhere)
        yield* askForWork(["near", "far", "any"]).pipe(Effect.provide(one))
        yield* waitUntil(Effect.sync(() => ran === 2))
        yield* drain.pipe(Effect.provide(one))
        assert.strictEqual(ran, 2)
      }).pipe(Effect.scoped))

    test("delivers a timer's command when it is due, once, also after a restart", () =>
      Effect.gen(function* () {
        const world = yield* open()
        const dueAt = new Date((yield* Clock.currentTimeMillis) + 1_500).toISOString()
        yield* Effect.gen(function* () {
          const one = yield* world.start(count)
          yield* Messenger.use((messenger) => messenger.send(toCounter("a").AddLater({ n: 7, dueAt }))).pipe(
            Effect.andThen(drain),
            Effect.provide(one)
          )
        }).pipe(Effect.scoped)
        const two = yield* world.start(count)
        yield* Effect.gen(function* () {
          yield* waitUntil(Effect.map(journalOf("a"), (journal) => journal.length === 2))
          yield* drain
          const [asked, delivered, ...others] = yield* journalOf("a")
          assert.deepStrictEqual([asked?.input.type, delivered?.input.type, others], ["AddLater", "Add", []])
          assert.strictEqual(delivered?.input.id, `escalation.a.${asked?.sequence}.0`)
          assert.isAtLeast(Date.parse(delivered?.at ?? ""), Date.parse(dueAt))
          assert.deepStrictEqual(yield* show("a"), { total: 7, steps: 2 })
        }).pipe(Effect.provide(two))
      }).pipe(Effect.scoped))
  })
