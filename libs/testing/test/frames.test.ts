import { assert, describe, it } from "@effect/vitest"
import { makeFrameReader } from "../src/natsProxy/frames.ts"
import { operationOf } from "../src/natsProxy/operations.ts"

const wire = [
  'CONNECT {"name":"one"}\r\n',
  "PUB a.b inbox.1 5\r\nhe\r\no\r\n",
  "HPUB a.c 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
  "hmsg a.c 9 inbox.2 12 14\r\nNATS/1.0\r\n\r\nhi\r\n",
  "MSG a.b 1 0\r\n\r\n",
  "PING\r\n"
]

describe("frames of the NATS protocol", () => {
  it("are read whole, however their bytes come in pieces", () => {
    const bytes = Buffer.from(wire.join(""))
    for (const size of [1, 3, 7, bytes.length]) {
      const read = makeFrameReader()
      const frames = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
        read(bytes.subarray(n * size, (n + 1) * size))
      ).flat()
      assert.deepStrictEqual(
        frames.map((frame) => frame.bytes.toString()),
        wire
      )
      assert.deepStrictEqual(
        frames.map(({ reply, subject, verb }) => [verb, subject, reply]),
        [
          ["CONNECT", undefined, undefined],
          ["PUB", "a.b", "inbox.1"],
          ["HPUB", "a.c", undefined],
          ["HMSG", "a.c", "inbox.2"],
          ["MSG", "a.b", undefined],
          ["PING", undefined, undefined]
        ]
      )
    }
  })

  it("have names without keys and random ids, so that the same request has the same name in each run", () => {
    const names = {
      "$JS.API.CONSUMER.MSG.NEXT.t_commands.commands-gate": "$JS.API.CONSUMER.MSG.NEXT.t_commands.commands-gate",
      "$JS.API.CONSUMER.MSG.NEXT.t_events.oc_ZKBZ8GMJ1Q5RWVZJ8W9F8H_1": "$JS.API.CONSUMER.MSG.NEXT.t_events.*",
      "$JS.API.STREAM.MSG.GET.t_journal": "$JS.API.STREAM.MSG.GET.t_journal",
      "$JS.API.DIRECT.GET.KV_t_views.$KV.t_views.gate.a": "$JS.API.DIRECT.GET.KV_t_views",
      "$JS.API.CONSUMER.CREATE.t_commands.commands-gate.t.command.gate.*":
        "$JS.API.CONSUMER.CREATE.t_commands.commands-gate",
      "$JS.ACK.t_commands.commands-gate.1.5.5.1790000000.0": "$JS.ACK.t_commands.commands-gate",
      "t.journal.escalation.a": "t.journal.escalation",
      "$KV.t_views.gate.a": "$KV.t_views",
      "$O.t_transcripts.C.ZKBZ8GMJ1Q5RWVZJ8W9F8H": "$O.t_transcripts.C",
      "_INBOX_test.ZKBZ8GMJ1Q5RWVZJ8W9F8H.A": "_INBOX_test"
    }
    for (const [subject, name] of Object.entries(names)) assert.strictEqual(operationOf(subject), name)
  })
})
