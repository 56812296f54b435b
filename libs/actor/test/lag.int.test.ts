/** The metrics of a service on a real server, as Prometheus reads them. */
import { assert, it } from "@effect/vitest"
import { Host } from "@reprise/protocol"
import { Effect } from "effect"
import { Readiness } from "../src/health/Readiness.ts"
import { serveHealth } from "../src/health/serveHealth.ts"
import { actorLayer, Messenger, workerLayer } from "../src/index.ts"
import { CounterWork, counter, toCounter } from "./support/Counter.ts"
import { onServer, ownServerWorld, waitUntil } from "./support/systems.ts"

const ask = (name: string) => Messenger.use((messenger) => messenger.send(toCounter("a").AskForWork({ name })))

/** Of the gate's work; undefined: it is not told. */
const readWork = (port: number, name: string) =>
  Effect.promise(async () => {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text())
    const [, value] = new RegExp(`^${name}\\{.*stream="work".*\\} (\\d+)$`, "m").exec(text) ?? []
    return value === undefined ? undefined : Number(value)
  })

/** Does one piece of work, and never gets done with it. */
const hanging = workerLayer({
  service: "gate",
  host: Host.make("first"),
  work: CounterWork,
  concurrency: 1,
  handle: () => Effect.never
})

onServer("the metrics of a service", () => {
  it.live("tell what nobody takes while it hangs, and are read also while the server does not answer", () =>
    Effect.gen(function* () {
      const world = yield* ownServerWorld()
      const port = yield* serveHealth({ host: "127.0.0.1", port: 0 }, yield* Readiness)
      const service = yield* world.start(actorLayer(counter), hanging)
      const until = (name: string, value: number) => waitUntil(Effect.map(readWork(port, name), (now) => now === value))
      yield* ask("a").pipe(Effect.provide(service))
      yield* until("reprise_unacknowledged_messages", 1)
      for (const name of ["b", "c", "d"]) yield* ask(name).pipe(Effect.provide(service))
      yield* until("reprise_pending_messages", 3)
      assert.strictEqual(yield* readWork(port, "reprise_unacknowledged_messages"), 1)
      yield* world.server.pause
      assert.strictEqual(yield* readWork(port, "reprise_pending_messages"), 3)
      yield* world.server.resume
    }).pipe(Effect.scoped, Effect.provide(Readiness.layer))
  )
})
