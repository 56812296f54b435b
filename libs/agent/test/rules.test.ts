import { assert, describe, it } from "@effect/vitest"
import { addressPatternProblem } from "../src/rules/addressPatterns.ts"
import { commandPatternProblem } from "../src/rules/commandPatterns.ts"
import { decide, rememberable } from "../src/rules/decide.ts"
import { filePatternProblem, matchesFile } from "../src/rules/filePatterns.ts"
import { noRules, type PermissionRules, type Place, type ToolRequest } from "../src/rules/PermissionRules.ts"

const place = (name: string, more: Partial<Place> = {}): Place => ({ name, real: name, guarded: false, ...more })
const run = (command: string): ToolRequest => ({ kind: "command", command })
const change = (...places: ReadonlyArray<Place>): ToolRequest => ({ kind: "change", places })
const read = (...places: ReadonlyArray<Place>): ToolRequest => ({ kind: "read", places })
const fetch = (url: string): ToolRequest => ({ kind: "address", url })

/** `{ allow: { commands: [...] } }`; the rest is empty. */
type Some = { readonly [V in "allow" | "ask" | "deny"]?: Partial<PermissionRules["allow"]> }
const rulesOf = ({ allow, ask, deny }: Some, more: Partial<PermissionRules> = {}): PermissionRules => ({
  ...noRules,
  allow: { ...noRules.allow, ...allow },
  ask: { ...noRules.ask, ...ask },
  deny: { ...noRules.deny, ...deny },
  ...more
})

describe("a pattern for files", () => {
  it.each([
    ["docs/**", "docs/a/b.md", true],
    ["docs/**", "src/docs/a.md", false],
    ["docs", "docs/a/b.md", true],
    ["docs/", "src/docs/a", true],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/a/b.ts", false],
    ["src/**/*.ts", "src/a/b/c.ts", true],
    ["src/**/*.ts", "src/c.ts", true],
    [".env", "deep/down/.env", true],
    [".env", ".env.local", false],
    ["*.pem", "keys/a.pem", true],
    ["**", ".hidden/x", true],
    ["**", "/etc/passwd", false],
    ["/etc/*", "/etc/passwd", true],
    ["/etc/*", "etc/passwd", false],
    ["~/notes/**", "/home/me/notes/a", true],
    ["~/notes/**", "/home/you/notes/a", false],
    ["passwd", "/etc/passwd", false],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "acb", false],
    ["src/[a].ts", "src/[a].ts", true],
    ["src/[a].ts", "src/a.ts", false]
  ])("%j against %j: %s", (pattern, path, expected) =>
    assert.strictEqual(matchesFile(pattern, path, "/home/me"), expected)
  )
})

describe("what is decided", () => {
  const all = { commands: ["*"], files: ["**"], addresses: ["*"] }
  const requests = [run("ls"), change(place("a")), read(place("a")), fetch("https://example.org/")]

  it.each([
    [{ allow: all, ask: all, deny: all }, "deny"],
    [{ allow: all, deny: all }, "deny"],
    [{ ask: all, deny: all }, "deny"],
    [{ allow: all, ask: all }, "ask"],
    [{ allow: all }, "allow"],
    [{ ask: all }, "ask"],
    [{ deny: all }, "deny"],
    [{}, "unsaid"]
  ] as const)("with %j, for every kind of request: %s", (some, expected) => {
    for (const request of requests) assert.strictEqual(decide(rulesOf(some), request)._tag, expected, request.kind)
  })

  it("says which rule denied", () => {
    const rules = rulesOf({ deny: { commands: ["rm *", "git push *"] } })
    assert.deepStrictEqual(decide(rules, run("true; git push")), {
      _tag: "deny",
      rule: "permissions.deny.commands: git push *"
    })
  })

  it("of a command in which a denied one may be hidden is a question, also if it is allowed", () => {
    const rules = rulesOf({ allow: { commands: ["*"] }, deny: { commands: ["git push *"] } })
    assert.strictEqual(decide(rules, run("$X"))._tag, "ask")
    assert.strictEqual(decide(rules, run("echo $X"))._tag, "allow")
  })

  it.each<[string, Some, ToolRequest, string]>([
    [
      "every file of a change must be allowed",
      { allow: { files: ["docs/**"] } },
      change(place("docs/a"), place("b")),
      "unsaid"
    ],
    [
      "one denied file denies the change",
      { allow: { files: ["**"] }, deny: { files: ["b"] } },
      change(place("a"), place("b")),
      "deny"
    ],
    [
      "a link is allowed by where it leads",
      { allow: { files: ["docs/**"] } },
      change(place("docs/a", { real: "/etc/a" })),
      "unsaid"
    ],
    [
      "a link is denied by where it leads",
      { deny: { files: ["/etc/**"] } },
      read(place("docs/a", { real: "/etc/a" })),
      "deny"
    ],
    [
      "a link is denied by its own name",
      { deny: { files: ["docs/**"] } },
      read(place("docs/a", { real: "b" })),
      "deny"
    ],
    [
      "a link to nowhere is asked for where files are held back",
      { deny: { files: ["b"] } },
      read(place("a", { real: undefined })),
      "ask"
    ],
    ["a link to nowhere is not allowed", { allow: { files: ["**"] } }, read(place("a", { real: undefined })), "unsaid"],
    ["a change without files is not allowed", { allow: { files: ["**"] } }, change(), "unsaid"],
    [
      "settings that grant permissions are never allowed",
      { allow: { files: ["**"] } },
      change(place("reprise.toml", { guarded: true })),
      "unsaid"
    ],
    ["a denied name in other letters is denied", { deny: { files: ["secrets"] } }, read(place("Secrets/a")), "deny"],
    [
      "an allowed name in other letters is not allowed",
      { allow: { files: ["docs"] } },
      read(place("Docs/a")),
      "unsaid"
    ],
    ["an address by its name", { allow: { addresses: ["example.org"] } }, fetch("https://example.org/x?y"), "allow"],
    [
      "a name below is another one",
      { allow: { addresses: ["example.org"] } },
      fetch("https://a.example.org/"),
      "unsaid"
    ],
    [
      "a longer name is another one",
      { allow: { addresses: ["example.org"] } },
      fetch("https://example.org.evil.net/"),
      "unsaid"
    ],
    [
      "a user's name is not a server",
      { allow: { addresses: ["example.org"] } },
      fetch("https://example.org@evil.net/"),
      "unsaid"
    ],
    ["all names below", { allow: { addresses: ["*.example.org"] } }, fetch("https://b.a.example.org/"), "allow"],
    ["but not the name itself", { allow: { addresses: ["*.example.org"] } }, fetch("https://example.org/"), "unsaid"],
    [
      "nor one that ends alike",
      { allow: { addresses: ["*.example.org"] } },
      fetch("https://badexample.org/"),
      "unsaid"
    ],
    ["a port", { allow: { addresses: ["localhost:8080"] } }, fetch("http://localhost:8080/"), "allow"],
    ["another port", { allow: { addresses: ["localhost:8080"] } }, fetch("http://localhost:8081/"), "unsaid"],
    [
      "capital letters and a dot at the end",
      { deny: { addresses: ["example.org"] } },
      fetch("https://EXAMPLE.org./"),
      "deny"
    ],
    [
      "what is not an address is asked for where addresses are held back",
      { deny: { addresses: ["a.org"] } },
      fetch("file:///etc/passwd"),
      "ask"
    ],
    [
      "what is not an address is not allowed",
      { allow: { addresses: ["example.org"] } },
      fetch("file://example.org/x"),
      "unsaid"
    ]
  ])("%s", (_, some, request, expected) => assert.strictEqual(decide(rulesOf(some), request)._tag, expected))

  it("allows nothing in a closed folder", () => {
    const rules = rulesOf({ allow: { files: ["/home/**"] } }, { closed: ["/home/me/.config/reprise"] })
    assert.strictEqual(decide(rules, change(place("/home/me/.config/reprise/permissions/x.json")))._tag, "unsaid")
    assert.strictEqual(decide(rules, change(place("/home/me/.config/other")))._tag, "allow")
  })
})

describe("what is remembered", () => {
  const remembering = (request: ToolRequest, some: Some = {}) =>
    rulesOf(some, { remembered: rememberable(rulesOf(some), request) })

  it.each<[ToolRequest, ToolRequest, string]>([
    [run("a > b; $(c)"), run("a > b; $(c)"), "allow"],
    [run("npm test"), run("npm test "), "unsaid"],
    [run("npm test"), run("npm test; rm -rf /"), "unsaid"],
    [read(place("/etc/hosts")), read(place("/etc/hosts")), "allow"],
    [read(place("/etc/hosts")), change(place("/etc/hosts")), "unsaid"],
    [change(place("a")), change(place("a")), "allow"],
    [change(place("a")), change(place("a/b")), "unsaid"],
    [change(place("a*")), change(place("ab")), "unsaid"],
    [fetch("https://example.org/a"), fetch("https://example.org/b"), "allow"],
    [fetch("https://example.org/a"), fetch("https://example.org:8443/a"), "unsaid"],
    [{ kind: "tool", name: "WebSearch" }, { kind: "tool", name: "WebSearch" }, "allow"],
    [{ kind: "tool", name: "WebSearch" }, { kind: "tool", name: "other" }, "unsaid"]
  ])("of %j, for %j: %s", (first, second, expected) =>
    assert.strictEqual(decide(remembering(first), second)._tag, expected)
  )

  it("is nothing where it would not hold: for what another rule asks about, and for guarded files", () => {
    assert.deepStrictEqual(rememberable(rulesOf({ ask: { commands: ["npm *"] } }), run("npm test")), [])
    assert.deepStrictEqual(rememberable(noRules, change(place("reprise.toml", { guarded: true }))), [])
    assert.deepStrictEqual(rememberable(noRules, fetch("file:///a")), [])
  })
})

describe("a pattern that is not valid", () => {
  it.each([
    [
      commandPatternProblem,
      [
        "git status; rm -rf /",
        "a && b",
        "a | b",
        "a &",
        "a $(b)",
        "a `b`",
        "a > b",
        "a 'b",
        " ",
        "*x",
        "* --version",
        "a\nb"
      ]
    ],
    [filePatternProblem, ["../a", "a/../b", "./a", "a//b", "a**/b", "/", "~me/a", "a\nb"]],
    [addressPatternProblem, ["https://example.org", "example.org/x", "*.", "a b", "exa*mple.org", ""]]
  ])("is refused with what is expected", (problemOf, patterns) => {
    for (const pattern of patterns) assert.isDefined(problemOf(pattern), JSON.stringify(pattern))
  })

  it.each([
    [
      commandPatternProblem,
      ["*", "npm test", "npm test *", "git commit -m 'a; b'", "./run.sh *", "CI=1 npm test", "ls [a]"]
    ],
    [filePatternProblem, ["docs/**", "**/*.md", "/etc/hosts", "~/notes", "docs/", ".env", "*"]],
    [addressPatternProblem, ["*", "example.org", "*.example.org", "localhost:80", "127.0.0.1", "[::1]:80"]]
  ])("is told from valid ones", (problemOf, patterns) => {
    for (const pattern of patterns) assert.isUndefined(problemOf(pattern), JSON.stringify(pattern))
  })
})
