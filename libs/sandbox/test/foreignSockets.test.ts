import { assert, describe, it } from "@effect/vitest"
import { socketPathsIn } from "../src/policy/foreignSockets.ts"

const listed = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 28413 /home/me/agent.sock
0000000000000000: 00000002 00000000 00010000 0001 01   1 /home/me/My  App/agent socket
ffff9c7f0b1d0000: 00000002 00000000 00010000 0005 01 28414 /home/me/packets
0000000000000000: 00000002 00000000 00000000 0002 01 28415 /home/me/datagrams
0000000000000000: 00000003 00000000 00000000 0001 03 28416 /home/me/connected
0000000000000000: 00000003 00000000 00000000 0001 03 28417
0000000000000000: 00000002 00000000 00010000 0001 01 28418 @abstract
`

describe("the sockets of this machine", () => {
  it("are those that somebody listens on or receives at, whatever blanks their path has", () => {
    assert.deepStrictEqual(socketPathsIn(listed), [
      "/home/me/agent.sock",
      "/home/me/My  App/agent socket",
      "/home/me/packets",
      "/home/me/datagrams"
    ])
  })
})
