/** The reply to a query, as programs in other languages get it. */
import { gunzipSync } from "node:zlib"
import { assert, it } from "@effect/vitest"
import { connect, headers, type MsgHdrs } from "@nats-io/transport-node"
import { subjects as subjectsOf } from "@reprise/protocol"
import { Broker as Server } from "@reprise/testing"
import { Effect, Layer } from "effect"
import { Broker } from "../src/index.ts"
import { jetStream } from "./support/jetStream.ts"
import { onServer, server } from "./support/systems.ts"

const subject = subjectsOf("t").api("workspace", "list")
const world = Layer.unwrap(Effect.map(Server, ({ url }) => jetStream(url))).pipe(Layer.provideMerge(server))

onServer("a reply that is larger than a message", () => {
  it.live("is compressed for whoever understands that, and names an object for everybody else", () =>
    Effect.gen(function* () {
      const { url } = yield* Server
      const broker = yield* Broker
      const large = JSON.stringify({
        ok: true,
        data: Array.from({ length: 50_000 }, (_, n) => ({ id: `question ${n}` }))
      })
      yield* broker.serve("workspace", { [subject]: () => Effect.succeed(large) })
      const connection = yield* Effect.acquireRelease(
        Effect.promise(() => connect({ servers: url })),
        (open) => Effect.promise(() => open.close())
      )
      const ask = (asked?: MsgHdrs) =>
        Effect.promise(() =>
          connection.request(subject, "", { timeout: 5_000, ...(asked === undefined ? {} : { headers: asked }) })
        )
      const plain = yield* ask()
      assert.deepStrictEqual([plain.data.length, plain.headers?.has("content-encoding")], [0, false])
      assert.match(plain.headers?.get("reprise-body") ?? "", /^reply\//)
      const understands = headers()
      understands.set("accept-encoding", "gzip")
      const short = yield* ask(understands)
      assert.deepStrictEqual(
        [short.headers?.get("content-encoding"), short.headers?.has("reprise-body")],
        ["gzip", false]
      )
      assert.strictEqual(gunzipSync(short.data).toString("utf8"), large)
    }).pipe(Effect.scoped, Effect.provide(world))
  )
})
