import { assert, describe, it } from "@effect/vitest"
import { listenProblem, type ProxyRules, visitorOfProxy } from "../src/console/visitor.ts"

const rules: ProxyRules = {
  userHeader: "x-forwarded-email",
  groupsHeader: "x-forwarded-groups",
  answerers: ["ada@example.org", "group:on-call"]
}
const byLatin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1")

describe("whom a proxy signs in", () => {
  it.each([
    ["an answerer by name", { "x-forwarded-email": "ada@example.org" }, "answerer", "ada@example.org"],
    ["a viewer whom nobody listed", { "x-forwarded-email": "eve@example.org" }, "viewer", "eve@example.org"],
    ["an answerer by group", { "x-forwarded-email": "bob", "x-forwarded-groups": "staff, on-call" }, "answerer", "bob"],
    [
      "an answerer by group, behind other proxies",
      { "x-forwarded-email": "bob", "x-forwarded-groups": "a|on-call" },
      "answerer",
      "bob"
    ],
    ["a viewer named like a group", { "x-forwarded-email": "group:on-call" }, "viewer", "group:on-call"],
    [
      "a viewer in a group named like a user",
      { "x-forwarded-email": "eve", "x-forwarded-groups": "ada@example.org" },
      "viewer",
      "eve"
    ],
    [
      "a viewer in a group that begins alike",
      { "x-forwarded-email": "eve", "x-forwarded-groups": "on-call-not" },
      "viewer",
      "eve"
    ],
    ["a name in any script", { "x-forwarded-email": byLatin1("Łukasz Żak") }, "viewer", "Łukasz Żak"]
  ])("is %s", (_, headers, role, user) => {
    assert.deepStrictEqual(visitorOfProxy(rules, headers), { role, user } as never)
  })

  it.each([
    ["nobody named", {}],
    ["an empty name", { "x-forwarded-email": "  " }],
    ["two names, of which one may be the visitor's own", { "x-forwarded-email": "ada@example.org, eve" }],
    ["control characters", { "x-forwarded-email": "ada\u001b[31m" }],
    ["marks that reorder text", { "x-forwarded-email": byLatin1("ada\u202e") }],
    ["a name without end", { "x-forwarded-email": "a".repeat(255) }]
  ])("is nobody, with %s", (_, headers) => {
    assert.isUndefined(visitorOfProxy(rules, headers))
  })

  it("is everybody with '*', and nobody without the header's name", () => {
    const headers = { "x-forwarded-email": "eve" }
    assert.deepStrictEqual(visitorOfProxy({ ...rules, answerers: ["*"] }, headers), { role: "answerer", user: "eve" })
    assert.isUndefined(visitorOfProxy({ answerers: ["*"] }, headers))
  })
})

describe("where the console listens", () => {
  const origin = "https://reprise.example.org"
  it.each([
    ["127.0.0.1", undefined, false, true],
    ["::1", undefined, false, true],
    ["localhost", undefined, false, true],
    ["0.0.0.0", origin, true, true],
    ["0.0.0.0", origin, false, false],
    ["0.0.0.0", undefined, true, false],
    ["::", undefined, false, false],
    ["10.0.0.1", origin, false, false]
  ])("is checked: %s with the address %s and a secret: %s", (listen, address, hasSecret, isFine) => {
    const problem = listenProblem({ listen, origin: address, hasSecret })
    if (isFine) assert.isUndefined(problem)
    else assert.include(problem ?? "", `must not listen on ${listen}`)
  })
})
