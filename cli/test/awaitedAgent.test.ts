import { assert, describe, it } from "@effect/vitest"
import { ServiceName } from "@reprise/protocol"
import { awaitedAddress, awaitedAgent } from "../src/flows/serve/awaitedAgent.ts"
import { configOf, layerOf, type Values } from "./support/layers.ts"

const settingsOf = (values: Values) => configOf(layerOf(values)).settings
const url = "http://127.0.0.1:4096"

describe("the agent that a session-manager waits for", () => {
  it.each<readonly [string, Values, string | undefined]>([
    ["is the server of opencode.url", { "opencode.url": url }, url],
    ["is none where no role is on OpenCode", { "opencode.url": url, runtime: "claude" }, undefined],
    [
      "is that server where one of several runtimes is OpenCode",
      { "opencode.url": url, runtime: "claude", reviewerRuntime: "opencode" },
      url
    ],
    ["is none where OpenCode is started when it is needed", {}, undefined],
    ["is none where the runtime is Claude", { runtime: "claude" }, undefined],
    ["is none where the runtime is an agent over the protocol", { "opencode.url": url, runtime: "gemini" }, undefined]
  ])("%s", (_, values, expected) => {
    assert.strictEqual(awaitedAddress("session-manager", settingsOf(values)), expected)
  })

  it("is that of the workspace beside it, which takes runs, and of nobody who works on no host", () => {
    const settings = settingsOf({ "opencode.url": url })
    const awaited = ServiceName.literals.filter((service) => awaitedAddress(service, settings) === url)
    assert.sameMembers(awaited, ["session-manager", "workspace"])
  })

  it("is named without its login", () => {
    const need = awaitedAgent("session-manager", settingsOf({ "opencode.url": "http://me:secret@127.0.0.1:4096" }))
    assert.match(need?.what ?? "", /^an agent that answers at http:.*127\.0\.0\.1:4096$/)
    assert.notInclude(need?.what, "secret")
  })
})
