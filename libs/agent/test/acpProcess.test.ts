import { assert, describe, it } from "@effect/vitest"
import { askingVariables, commandOf, commandProblem, isOpenCode, parseCommand } from "../src/acp/process/command.ts"
import { Lines, parseMessage } from "../src/acp/process/messageStream.ts"

describe("the command of an agent", () => {
  it.each(["", "  ", "./agent", "bin/agent acp", "sh -c 'x'", "agent; rm x", "agent $(x)", "agent > x"])(
    "is not %j",
    (command) => assert.isDefined(commandProblem(command))
  )

  it.each(["opencode acp", "/usr/bin/agent --acp", "agent"])("can be %s", (command) =>
    assert.isUndefined(commandProblem(command))
  )

  it("is what stands after acp:", () => {
    assert.strictEqual(commandOf("acp:opencode acp"), "opencode acp")
    assert.isUndefined(commandOf("opencode"))
    assert.deepStrictEqual(parseCommand(" opencode  acp "), { program: "opencode", args: ["acp"] })
  })

  it("makes OpenCode ask, and keeps it from searching in files that rules hold back", () => {
    assert.isTrue(isOpenCode(parseCommand("/a/opencode.exe acp")))
    assert.isFalse(isOpenCode(parseCommand("/opencode/agent")))
    const permissions = (files: boolean) =>
      askingVariables({ commands: false, files, addresses: false })["OPENCODE_PERMISSION"] ?? ""
    assert.include(permissions(false), '"bash":"ask"')
    assert.include(permissions(false), '"grep":"allow"')
    assert.include(permissions(true), '"grep":"deny"')
  })
})

describe("an agent's output", () => {
  it("is lines, however it is cut into pieces", () => {
    const lines = new Lines(10)
    assert.deepStrictEqual(lines.add(Buffer.from("ab")), [])
    assert.deepStrictEqual(lines.add(Buffer.from("c\n\nd\ne")), ["abc", "d"])
    assert.deepStrictEqual(lines.add(Buffer.from("f\n")), ["ef"])
  })

  it("ends at a line that is too long, also before its end has come", () => {
    const lines = new Lines(4)
    lines.add(Buffer.from("abcd"))
    assert.throws(() => lines.add(Buffer.from("e")), /more than 4 bytes/)
  })

  it.each(["no json", "[]", "1", '{"jsonrpc":"1.0"}'])("is not a message: %s", (line) =>
    assert.throws(() => parseMessage(line), /not JSON-RPC 2.0/)
  )
})
