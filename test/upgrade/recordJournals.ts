/**
 * `node test/upgrade/recordJournals.ts STATE`: prints what a version of Reprise stored in the state directory STATE, such
 * as `.reprise`, as lines of JSON: its journals, then its views. Kept in `journals/VERSION.jsonl`, every later version
 * must be able to load it. Nothing may use the directory meanwhile; give it a copy.
 */
import { parseArgs } from "node:util"
import { ActorConfig, Broker, JetStreamBroker } from "@reprise/actor"
import { EmbeddedServer, layerEmbeddedConnection } from "@reprise/nats"
import { contracts, Host } from "@reprise/protocol"
import { Effect, Layer } from "effect"

const { positionals } = parseArgs({ allowPositionals: true })
const [directory] = positionals
if (directory === undefined) throw new Error("Name a state directory.")

const prefix = "reprise"

const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

const record = Effect.gen(function* () {
  const broker = yield* Broker
  for (const message of yield* broker.read("journal", `${prefix}.journal.*.*`, 0)) {
    print({ subject: message.subject, sequence: message.sequence, body: yield* message.body })
  }
  for (const service of Object.keys(contracts)) {
    for (const { key, value } of yield* broker.views.list(service)) print({ view: key, value })
  }
})

const broker = JetStreamBroker.layer.pipe(
  Layer.provide(layerEmbeddedConnection({ name: "record" })),
  Layer.provide(EmbeddedServer.layer({ directory })),
  Layer.provideMerge(ActorConfig.layer({ prefix, host: Host.make("local") }))
)

await Effect.runPromise(Effect.provide(record, broker))
