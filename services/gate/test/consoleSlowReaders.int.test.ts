import { connect } from "node:net"
import { assert, describe, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { LiveMessage, RunId, SessionId, TurnId } from "@reprise/protocol"
import { Effect } from "effect"
import { openWith, world } from "./support/consoleOverMemory.ts"
import { requestText } from "./support/rawHttp.ts"

const runId = RunId.make("slow")
const said = (n: number) =>
  LiveMessage.cases.AgentSaid.make({
    runId,
    sessionId: SessionId.make("slow-s1"),
    turnId: TurnId.make("slow-t1"),
    role: "author",
    part: `p${n}`,
    kind: "text",
    text: "x".repeat(16 * 1024)
  })

describe("a reader of a stream of the console that takes nothing", () => {
  layer(world, { excludeTestServices: true, timeout: "2 minutes" })("over a broker in memory", (it) => {
    it.effect("is kept only so many messages for; then the stream ends, so that its page connects again", () =>
      Effect.gen(function* () {
        const { port, signIn } = yield* openWith({})
        const session = yield* signIn
        const { announce } = yield* Messenger
        const socket = yield* Effect.acquireRelease(
          Effect.sync(() => connect(port, "127.0.0.1").setEncoding("latin1")),
          (one) => Effect.sync(() => one.destroy())
        )
        const parts: Array<string> = []
        socket.write(
          requestText("GET", "/api/runs/slow/live", { host: `127.0.0.1:${port}`, "x-reprise-session": session })
        )
        yield* Effect.callback<void>((resume) => {
          socket.on("data", (part) => {
            parts.push(`${part}`)
            if (`${part}`.includes("event: listening")) resume(Effect.void)
          })
        })
        socket.pause()
        const sent = 3_000
        for (let n = 0; n < sent; n++) yield* announce(said(n))
        const ended = Effect.callback<void>((resume) => {
          socket.once("end", () => resume(Effect.void))
          socket.resume()
        })
        yield* ended
        const text = parts.join("")
        const heard = text.split("event: live").length - 1
        assert.isAbove(heard, 1_000)
        assert.isBelow(heard, sent)
        // What was heard has no gap.
        assert.include(text, `"part":"p${heard - 1}"`)
      })
    )
  })
})
