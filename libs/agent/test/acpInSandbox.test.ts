/** Which process of an agent a session gets, and what an agent is given inside of the sandbox. */
import { assert, describe, it } from "@effect/vitest"
import { keyOf, mayEnd, restMs, rightsOf } from "../src/acp/process/rights.ts"
import { knowsNeeds, sandboxNeeds } from "../src/acp/process/sandboxNeeds.ts"
import { namedAgents } from "../src/index.ts"

const sandbox = (covers: boolean, can = true) => ({
  covers: () => covers,
  agentProgram: can ? () => assert.fail("not started here") : undefined
})

describe("the process of a session's agent", () => {
  const author = { directory: "/a", permissions: "ask", role: "author" } as const

  it("is one for each workspace and role in the sandbox, and one for all outside", () => {
    const inside = (whose: Parameters<typeof rightsOf>[1]) => keyOf(rightsOf(sandbox(true), whose))
    assert.strictEqual(inside(author), inside({ ...author, permissions: "workspace" }))
    const others = [author, { ...author, role: "reviewer" }, { ...author, directory: "/b" }] as const
    assert.strictEqual(new Set(others.map(inside)).size, others.length)
    const outside = others.map((whose) => keyOf(rightsOf(sandbox(false), whose)))
    assert.deepStrictEqual([...new Set(outside)], ["outside"])
  })

  it("has the rights of a reviewer as long as nobody says whose it is", () => {
    const rights = rightsOf(sandbox(true), { directory: "/a", permissions: "ask" })
    assert.deepStrictEqual(rights, { _tag: "inside", directory: "/a", role: "reviewer" })
  })

  it("is outside where the machine's sandbox cannot hold a whole agent", () => {
    assert.deepStrictEqual(rightsOf(sandbox(true, false), author), { _tag: "outside" })
  })

  const resting = { rights: rightsOf(sandbox(true), author), usedAtMs: 0, isAtWork: false, canLoad: true }

  it.each([
    ["after a rest", resting, restMs, true],
    ["not before", resting, restMs - 1, false],
    ["not in a turn", { ...resting, isAtWork: true }, restMs, false],
    ["not with sessions that nobody could load again", { ...resting, canLoad: false }, restMs, false],
    ["not outside, where it serves all", { ...resting, rights: rightsOf(sandbox(false), author) }, restMs, false]
  ] as const)("may be ended %s", (_, given, nowMs, expected) => {
    assert.strictEqual(mayEnd(given, nowMs), expected)
  })
})

describe("what an agent needs in the sandbox", () => {
  it("is in the table for every agent that has a name", () => {
    for (const { command, name } of namedAgents) {
      const { own, variables } = sandboxNeeds(command, {}, "/home/me")
      assert.isTrue(knowsNeeds(command), name)
      assert.isAbove(own.write.length, 0, name)
      assert.isAbove(own.network.length, 0, name)
      assert.isAbove(variables.length, 0, name)
      // Elsewhere nothing would have to be protected.
      for (const path of [...own.kept, ...own.apart]) {
        assert.isTrue(
          own.write.some((folder) => path.startsWith(`${folder}/`)),
          path
        )
      }
    }
  })

  /** What is run, sourced or obeyed later and outside, as the agents' documentation and packages say (docs/agents.md#in-the-sandbox). */
  const obeyedOutside: ReadonlyArray<
    readonly [command: string, folder: string, kept: ReadonlyArray<string>, apart: ReadonlyArray<string>]
  > = [
    ["opencode acp", ".local/share/opencode", ["bin"], ["snapshot"]],
    ["opencode acp", ".cache/opencode", ["bin", "node_modules", "packages", "skills"], []],
    [
      "opencode acp",
      ".config/opencode",
      ["opencode.json", "opencode.jsonc", "config.json", "config", "tui.json", "plugin", "tool", "node_modules"],
      []
    ],
    [
      "claude-agent-acp",
      ".claude",
      ["settings.json", "remote-settings.json", "hooks", "plugins", "local", "chrome", "daemon", "daemon.json", "jobs"],
      ["shell-snapshots", "session-env"]
    ],
    [
      "codex-acp",
      ".codex",
      ["config.toml", "*.config.toml", ".env", "environments.toml", "hooks.json", "rules", "prompts", "packages"],
      ["shell_snapshots", "tmp", ".tmp"]
    ],
    [
      "copilot --acp",
      ".copilot",
      [
        "config.json",
        "settings.json",
        "mcp-config.json",
        "lsp-config.json",
        "permissions-config.json",
        "extensions",
        "pkg"
      ],
      []
    ],
    ["copilot --acp", ".cache/copilot", ["pkg"], []],
    [
      "gemini --acp",
      ".gemini",
      [
        "settings.json",
        "trustedFolders.json",
        "trusted_hooks.json",
        "policies",
        "extensions",
        "bin",
        "tmp/bin",
        ".env"
      ],
      ["history"]
    ],
    [
      "qwen --acp",
      ".qwen",
      [
        "settings.json",
        "trustedFolders.json",
        "extensions",
        "locales",
        "updates",
        "channels",
        "bin",
        "tmp/bin",
        ".env"
      ],
      ["arena", "history"]
    ]
  ]

  it.each(obeyedOutside)(
    "keeps as it is what %s runs or obeys in %s when a person starts it",
    (command, folder, kept) => {
      const { own } = sandboxNeeds(command, {}, "/home/me")
      for (const name of kept) assert.include(own.kept, `/home/me/${folder}/${name}`)
    }
  )

  it.each(obeyedOutside)("gives %s folders of its own for what it has to write in %s and is obeyed", (...row) => {
    const [command, folder, , apart] = row
    const inside = sandboxNeeds(command, {}, "/home/me").own.apart.filter((path) =>
      path.startsWith(`/home/me/${folder}/`)
    )
    assert.deepStrictEqual(
      inside,
      apart.map((name) => `/home/me/${folder}/${name}`)
    )
  })

  it("is where its variables say, and its model's server is the one that they name", () => {
    const environment = { CLAUDE_CONFIG_DIR: "/elsewhere", ANTHROPIC_BASE_URL: "http://127.0.0.1:4000/v1" }
    const { own } = sandboxNeeds("/opt/claude-agent-acp", environment, "/home/me")
    assert.deepStrictEqual(own.write, ["/elsewhere"])
    assert.include(own.kept, "/elsewhere/settings.json")
    assert.include(own.network, "127.0.0.1:4000")
  })

  it.each([
    ["https://models.example.org/v1", "models.example.org:443"],
    ["http://models.example.org", "models.example.org:80"],
    ["http://[::1]:8000", "[::1]:8000"],
    ["no address", undefined]
  ])("is a server by its address: %s", (address, server) => {
    const { own } = sandboxNeeds("qwen --acp", { OPENAI_BASE_URL: address }, "/home/me")
    assert.deepStrictEqual(
      own.network.filter((name) => /:\d+$/.test(name)),
      server === undefined ? [] : [server]
    )
  })

  it("of an agent that Reprise does not know is what the settings name, and no more", () => {
    const allowed = { write: ["~/.mine"], network: ["models.example.org"], environment: ["MY_KEY"] }
    assert.isFalse(knowsNeeds("my-agent"))
    assert.deepStrictEqual(sandboxNeeds("my-agent", { OPENAI_BASE_URL: "http://x" }, "/home/me", allowed), {
      own: { write: ["/home/me/.mine"], read: [], kept: [], apart: [], network: ["models.example.org"] },
      variables: ["MY_KEY"]
    })
    assert.deepStrictEqual(sandboxNeeds("my-agent", {}, "/home/me").own.write, [])
  })
})
