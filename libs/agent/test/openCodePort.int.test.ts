/** What is said to whoever listens at the port of an OpenCode that we started: nothing, if that is another user. */
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { clientFor, healthVersion } from "../src/opencode/server/http.ts"

/** Somebody who has taken the port, and says that OpenCode is well. */
const pretender = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly heard: ReadonlyArray<string>; readonly close: () => void }>(
    (resume) => {
      const heard: Array<string> = []
      const server = createServer((request, response) => {
        heard.push(`${request.method} ${request.url}`)
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify({ healthy: true, version: "1.0.0" }))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, heard, close }))
      })
    }
  ),
  ({ close }) => Effect.sync(close)
)

const own = process.getuid?.() ?? 0

describe.runIf(process.platform === "linux")("a request to an OpenCode that we started", () => {
  it.live("says nothing to another user's process that listens there", () =>
    Effect.gen(function* () {
      const { heard, url } = yield* pretender
      const connection = {
        url,
        username: "opencode",
        password: Redacted.make("only for OpenCode"),
        ownServer: { pid: process.pid, users: [own + 1] }
      }
      assert.isTrue(Option.isNone(yield* healthVersion(connection)))
      const client = yield* Effect.promise(() => clientFor(connection))
      const { error, response } = yield* Effect.promise(() => client.session.list())
      assert.isUndefined(response)
      assert.isDefined(error)
      assert.deepStrictEqual(heard, [])

      assert.isTrue(
        Option.isSome(yield* healthVersion({ ...connection, ownServer: { pid: process.pid, users: [own + 1, own] } }))
      )
      assert.deepStrictEqual(heard, ["GET /global/health"])
    }).pipe(Effect.scoped)
  )
})
