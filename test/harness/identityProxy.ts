/** What a team has before the console: a proxy that signs people in, and says in headers of every request who asks. */
import { createServer, request } from "node:http"
import { Effect } from "effect"

/** Until the scope closes. Gives the address of the console for whom the headers name. */
export const identityProxy = Effect.fnUntraced(function* (console: string, names: Readonly<Record<string, string>>) {
  const { host, origin } = new URL(console)
  const server = createServer((near, reply) => {
    const asked = near.headers.origin === undefined ? {} : { origin }
    const headers = { ...near.headers, ...names, ...asked, host }
    const far = request(`${origin}${near.url}`, { method: near.method, headers, agent: false }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(reply)
    })
    far.on("error", () => reply.destroy())
    reply.on("close", () => far.destroy())
    near.pipe(far)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
})
