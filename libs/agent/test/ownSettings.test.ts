import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { unguardedBy, withOwnSettings } from "../src/opencode/server/ownSettings.ts"

const url = "file:///state/sessionFolder.js"

const off = { snapshot: false, formatter: false, lsp: false }

describe("the plugin that tells commands the folder of their session", () => {
  it.each([
    { content: undefined, expected: { plugin: [url] } },
    { content: "", expected: { plugin: [url] } },
    { content: '{"model":"a/b"}', expected: { model: "a/b", plugin: [url] } },
    { content: '{"plugin":["one",["two",{}]]}', expected: { plugin: ["one", ["two", {}], url] } }
  ])("is loaded after the plugins of the user: $content", ({ content, expected }) => {
    const { OPENCODE_CONFIG_CONTENT = "" } = Result.getOrThrow(
      withOwnSettings({ OPENCODE_CONFIG_CONTENT: content }, url)
    )
    assert.deepStrictEqual(JSON.parse(OPENCODE_CONFIG_CONTENT), { ...expected, ...off })
  })

  it.each([
    { environment: { OPENCODE_CONFIG_CONTENT: "{ // mine\n}" }, expected: /Write it without comments/ },
    { environment: { OPENCODE_CONFIG_CONTENT: "[]" }, expected: /cannot be read as JSON/ },
    { environment: { OPENCODE_CONFIG_CONTENT: '{"plugin":"one"}' }, expected: /a list of plugins/ },
    { environment: { OPENCODE_PURE: "1" }, expected: /OPENCODE_PURE .* Unset it/ }
  ])("stops a server that would not load it: $environment", ({ environment, expected }) => {
    assert.isTrue(Result.isFailure(withOwnSettings(environment, url)))
    const { next = "", problem = "" } = unguardedBy(environment) ?? {}
    assert.match(`${problem} ${next}`, expected)
  })
})

describe("programs that OpenCode starts by itself", () => {
  it.each([undefined, '{"snapshot":true,"formatter":true,"lsp":{"gopls":{}}}'])("are switched off: %s", (content) => {
    const { OPENCODE_CONFIG_CONTENT = "" } = Result.getOrThrow(withOwnSettings({ OPENCODE_CONFIG_CONTENT: content }))
    assert.deepStrictEqual(JSON.parse(OPENCODE_CONFIG_CONTENT), off)
  })

  it("are so too where plugins are not loaded", () => {
    assert.isTrue(Result.isSuccess(withOwnSettings({ OPENCODE_PURE: "1" })))
  })
})
