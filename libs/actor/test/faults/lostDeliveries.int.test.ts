/** What the broker sends by itself, and what is lost on the way: it comes in the end, and nothing is left out. */
import { assert, it } from "@effect/vitest"
import { nanos } from "@nats-io/transport-node"
import { Nats, type NatsShape } from "@reprise/nats"
import { PublicEvent, RunId, subjects } from "@reprise/protocol"
import { makeNatsProxy, type Passing } from "@reprise/testing"
import { Context, Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { Broker, Messenger } from "../../src/index.ts"
import { message } from "../support/deliveries.ts"
import { jetStream } from "../support/jetStream.ts"
import { onServer, ownServerWorld, processOn } from "../support/systems.ts"

const s = subjects("t")
const large = "x".repeat(600_000)

/** A process behind the proxy, and one with a connection of its own. */
const openBoth = Effect.gen(function* () {
  const world = yield* ownServerWorld()
  const proxy = yield* makeNatsProxy(world.server.url)
  const direct = yield* Layer.build(jetStream(world.server.url))
  const process = yield* processOn(jetStream(proxy.url, {}, { name: "one", requestTimeoutMs: 1_000 }), [])
  return { proxy, direct, process, broker: Context.get(process, Broker), other: Context.get(direct, Broker) }
})

/** The window in which the journal knows the ids of its messages passes. */
const forgetIds = ({ jsm, nc }: NatsShape) =>
  Effect.promise(async () => {
    await jsm.streams.update(s.streams.journal, { duplicate_window: nanos(100) })
    for (const started = Date.now(); Date.now() - started < 500; ) await nc.flush()
  })

const isDelivery =
  (start: string) =>
  ({ kind, operation }: Passing) =>
    kind === "deliver" && operation.startsWith(start)

onServer(
  "a message that is lost between the broker and its reader",
  () => {
    for (const text of ["small", large]) {
      it.live(`does not stop the reading of ${text.length} characters when it was the last piece of them`, () =>
        Effect.gen(function* () {
          const { broker, proxy } = yield* openBoth
          yield* broker.transcripts.put("session/a", text)
          const pieces: Array<Passing> = []
          const isPiece = isDelivery("$O.t_transcripts.C")
          proxy.use((passing) => {
            if (isPiece(passing)) pieces.push(passing)
            return undefined
          })
          yield* broker.transcripts.get("session/a")
          const last = pieces.length - 1
          proxy.use((passing) => (isPiece(passing) && passing.nth === last ? { do: "swallow" } : undefined))
          assert.strictEqual(yield* broker.transcripts.get("session/a"), text)
        }).pipe(Effect.scoped)
      )
    }

    for (const how of ["swallow", "cut"] as const) {
      it.live(`is not left out of a list (${how})`, () =>
        Effect.gen(function* () {
          const { broker, proxy } = yield* openBoth
          for (const name of ["a", "b", "c"]) {
            yield* broker.views.put(`gate.${name}`, `"${name}"`)
            yield* broker.transcripts.put(`session/${name}`, name)
          }
          proxy.use((passing) => {
            const isLast = passing.kind === "deliver" && passing.nth === 2
            return isLast ? { do: how } : undefined
          })
          const views = yield* broker.views.list("gate")
          assert.deepStrictEqual(views.map(({ key }) => key).toSorted(), ["gate.a", "gate.b", "gate.c"])
          const names = yield* broker.transcripts.list("session/")
          assert.deepStrictEqual(names.toSorted(), ["session/a", "session/b", "session/c"])
        }).pipe(Effect.scoped)
      )

      it.live(`reaches whoever follows events, also when no event comes after it (${how})`, () =>
        Effect.gen(function* () {
          const { process, proxy } = yield* openBoth
          const publish = (n: number) =>
            Context.get(process, Messenger).publish(
              "orchestrator",
              PublicEvent.cases.RunCompleted.make({ runId: RunId.make(`r${n}`) })
            )
          const began = yield* Deferred.make<void>()
          const isEvent = isDelivery("t.event.orchestrator")
          proxy.use((passing) => (isEvent(passing) && passing.nth === 1 ? { do: how } : undefined))
          const seen = yield* Context.get(process, Messenger)
            .events({ from: "beginning" })
            .pipe(
              Stream.tap(() => Deferred.succeed(began, undefined)),
              Stream.take(2),
              Stream.runCollect,
              Effect.forkChild
            )
          yield* publish(1)
          yield* Deferred.await(began)
          yield* publish(2)
          assert.deepStrictEqual(
            (yield* Fiber.join(seen)).map(({ event }) => event.runId),
            ["r1", "r2"].map((id) => RunId.make(id))
          )
        }).pipe(Effect.scoped)
      )
    }
  },
  { concurrent: true }
)

onServer("a large value whose pieces are gone", () => {
  it.live("is as one that cannot be read, and is written again", () =>
    Effect.gen(function* () {
      const { broker, direct } = yield* openBoth
      const revision = yield* broker.snapshots.put("escalation.a", large)
      const { jsm } = Context.get(direct, Nats)
      yield* Effect.promise(() => jsm.streams.purge("OBJ_t_transcripts", { filter: "$O.t_transcripts.C.>" }))
      assert.deepStrictEqual(yield* broker.snapshots.get("escalation.a"), { value: "", revision })
      yield* broker.snapshots.put("escalation.a", large, revision)
      assert.strictEqual((yield* broker.snapshots.get("escalation.a"))?.value, large)
    }).pipe(Effect.scoped)
  )
})

onServer("the answer to a write that is lost", () => {
  it.live("is found out, and the large body stays, also when another process has written after it", () =>
    Effect.gen(function* () {
      const { broker, direct, other, proxy } = yield* openBoth
      const subject = s.journal("escalation", "a")
      const stored = yield* Deferred.make<void>()
      let isOvertaken = false
      proxy.use(({ kind, operation }) => {
        if (kind !== "answer" || operation !== "t.journal.escalation" || isOvertaken) return undefined
        Deferred.doneUnsafe(stored, Effect.void)
        return { do: "swallow" }
      })
      const writing = yield* Effect.forkChild(broker.append(message(subject, "mine", JSON.stringify(large)), 0))
      yield* Deferred.await(stored)
      const first = yield* other.last("journal", subject)
      assert.strictEqual(first?.header("ce-id"), "mine")
      // Then the server checks the sequence before the id, as newer ones do in any case.
      yield* forgetIds(Context.get(direct, Nats))
      yield* other.append(message(subject, "theirs"), first?.sequence ?? 0)
      isOvertaken = true
      assert.strictEqual(yield* Fiber.join(writing), first?.sequence)
      const [mine] = yield* other.read("journal", subject, 0)
      assert.strictEqual(yield* mine?.body ?? Effect.succeed(""), JSON.stringify(large))
    }).pipe(Effect.scoped)
  )
})
