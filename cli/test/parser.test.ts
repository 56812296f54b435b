import { assert, describe, it } from "@effect/vitest"
import { readArguments, withoutHelpOfUnknown } from "../src/commands/parser.ts"

describe("the command line as it was typed", () => {
  it("keeps a text that begins with a dash together with its flag", () => {
    assert.deepStrictEqual(readArguments(["gate", "answer", "r1-e1", "c", "--guidance", "- one\n- two", "--json"]), [
      "gate",
      "answer",
      "r1-e1",
      "c",
      "--guidance=- one\n- two",
      "--json"
    ])
    assert.deepStrictEqual(readArguments(["abort", "r1", "--reason", "-v is broken"]), [
      "abort",
      "r1",
      "--reason=-v is broken"
    ])
  })

  it.each([
    [["help"], ["--help"]],
    [
      ["help", "run"],
      ["run", "--help"]
    ],
    [
      ["help", "gate", "answer"],
      ["gate", "answer", "--help"]
    ]
  ])("reads %j as %j", (typed, read) => {
    assert.deepStrictEqual(readArguments(typed), read)
  })

  it.each([
    [["sessions", "start", "help"]],
    [["gate", "answer", "r1-e1", "c", "--guidance", "-"]],
    [["gate", "answer", "r1-e1", "c", "--guidance", "--json"]],
    [["gate", "answer", "r1-e1", "c", "--guidance"]],
    [["gate", "answer", "r1-e1", "c", "--guidance", "plain words"]],
    [["sessions", "start", "--", "- one thing"]]
  ])("leaves %j as it is", (typed) => {
    assert.deepStrictEqual(readArguments(typed), typed)
  })
})

describe("help for a command that does not exist", () => {
  const leaf = (name: string) => ({ name, subcommands: [] })
  const commands = { name: "reprise", subcommands: [leaf("run"), { name: "gate", subcommands: [leaf("list")] }] }

  it.each([
    [["rn", "--help"], ["rn"]],
    [
      ["gate", "lst", "-h"],
      ["gate", "lst"]
    ],
    [["--help"], ["--help"]],
    [
      ["gate", "--help"],
      ["gate", "--help"]
    ],
    [
      ["run", "PLAN.md", "--help"],
      ["run", "PLAN.md", "--help"]
    ],
    [
      ["gate", "--nats", "url", "--help"],
      ["gate", "--nats", "url", "--help"]
    ]
  ])("reads %j as %j", (typed, read) => {
    assert.deepStrictEqual(withoutHelpOfUnknown(typed, commands), read)
  })
})
