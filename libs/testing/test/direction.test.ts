import { assert, describe, it } from "@effect/vitest"
import { Direction, type Fate } from "../src/natsProxy/Direction.ts"
import { makeFrameReader } from "../src/natsProxy/frames.ts"

/** What arrives of these messages, each a subject and a text, when these texts have fates; `end` lets all time pass. */
const pass = async (sent: ReadonlyArray<readonly [string, string]>, fates: Readonly<Record<string, Fate>>) => {
  const arrived: Array<string> = []
  const read = makeFrameReader()
  const isDone = Promise.withResolvers<void>()
  const direction = new Direction({
    fateOf: ({ bytes }) => fates[bytes.toString().split("\r\n")[1] ?? ""],
    write: (bytes) => {
      arrived.push(bytes.toString().split("\r\n")[1] ?? "")
      if (arrived.includes("last")) isDone.resolve()
    },
    cut: () => {
      direction.close()
      isDone.resolve()
    }
  })
  for (const [subject, text] of [...sent, ["z", "last"] as const]) {
    for (const frame of read(Buffer.from(`PUB ${subject} ${text.length}\r\n${text}\r\n`))) direction.take(frame)
  }
  await isDone.promise
  direction.close()
  return arrived
}

describe("one direction of a connection through the proxy", () => {
  it("keeps everything behind a frame that is late in order", async () => {
    const late = { first: { do: "delay", ms: 5 }, second: { do: "delay", ms: 5 } } as const
    const sent = [
      ["a", "first"],
      ["a", "second"],
      ["b", "third"]
    ] as const
    assert.deepStrictEqual(await pass(sent, late), ["first", "second", "third", "last"])
  })

  it("lets frames of other subjects overtake one, and none of its own subject", async () => {
    const sent = [
      ["a", "first"],
      ["b", "other"],
      ["a", "second"]
    ] as const
    const arrived = await pass(sent, { first: { do: "overtake", ms: 60_000 } })
    assert.deepStrictEqual(arrived, ["other", "first", "second", "last"])
  })

  it("repeats a frame, swallows one, and lets nothing through after a cut", async () => {
    const sent = [
      ["a", "first"],
      ["a", "second"],
      ["a", "third"],
      ["a", "fourth"]
    ] as const
    const arrived = await pass(sent, { first: { do: "repeat" }, second: { do: "swallow" }, fourth: { do: "cut" } })
    assert.deepStrictEqual(arrived, ["first", "first", "third"])
  })
})
