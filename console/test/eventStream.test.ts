import { createServer, type ServerResponse } from "node:http"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { openStream } from "../src/stream/eventStream.ts"

type Answer = (response: ServerResponse) => void
let answer: Answer = (response) => response.end()
const asked: Array<string | undefined> = []
const server = createServer(({ headers }, response) => {
  asked.push(`${headers["x-reprise-session"]}`)
  answer(response)
})
let address = ""

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const bound = server.address()
  address = `http://127.0.0.1:${typeof bound === "object" ? bound?.port : ""}/`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const begins = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })

/** Everything that a reader hears, until the stream ends. */
const heardUntilEnd = (now: Answer) =>
  new Promise<ReadonlyArray<unknown>>((resolve) => {
    answer = now
    const heard: Array<unknown> = []
    openStream(
      address,
      { "x-reprise-session": "mine" },
      {
        onMessage: ({ data, event, id }) => heard.push([event, data, id]),
        onEnd: (refusal) => resolve([...heard, refusal])
      }
    )
  })

describe("a stream of events in a page", () => {
  it("brings each message whole and once, however it was cut on its way, and says when it ends", async () => {
    const heard = await heardUntilEnd((response) => {
      begins(response)
      response.write('retry: 1000\nevent: connected\ndata: {"a":1}\n\nid: 7\nevent: ev')
      setImmediate(() => response.end('ent\ndata: "ü"\n\nevent: alive\ndata: {}\n\nevent: event\ndata: "cut'))
    })
    assert.deepStrictEqual(heard, [
      ["connected", '{"a":1}', undefined],
      ["event", '"ü"', "7"],
      ["alive", "{}", "7"],
      undefined
    ])
    assert.deepStrictEqual(asked.splice(0), ["mine"])
  })

  it.each<[string, Answer, number | undefined]>([
    ["the status of a refusal", (response) => response.writeHead(401).end("{}"), 401],
    ["of no page that a proxy shows in its place", (response) => response.writeHead(200).end("<p>Hello"), undefined],
    ["of no connection that is cut", (response) => response.destroy(), undefined],
    ["of no stream that is cut", (response) => begins(response).write("data: a\n", () => response.destroy()), undefined]
  ])("hears %s, and nothing else", async (_what, now, refusal) =>
    assert.deepStrictEqual(await heardUntilEnd(now), [refusal])
  )

  it("is silent once it was closed, also about what had come by then", async () => {
    const heard: Array<string> = []
    const closed = new Promise<void>((resolve) => {
      answer = (response) => {
        begins(response).write("data: first\n\ndata: second\n\n")
        response.once("close", resolve)
      }
    })
    const close = openStream(
      address,
      {},
      {
        onMessage: ({ data }) => {
          heard.push(data)
          close()
        },
        onEnd: () => heard.push("the end")
      }
    )
    await closed
    assert.deepStrictEqual(heard, ["first"])
  })
})
