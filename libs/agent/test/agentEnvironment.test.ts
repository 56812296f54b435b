import { assert, describe, it } from "@effect/vitest"
import { openCodeEnvironment } from "../src/agentEnvironment.ts"
import { permissionRules } from "../src/opencode/session/permissionRules.ts"

describe("openCodeEnvironment", () => {
  const canary = "canary-token"
  const environment = openCodeEnvironment(
    {
      PATH: "/bin",
      XDG_CONFIG_HOME: "/home/me/.config",
      ANTHROPIC_API_KEY: "key",
      OPENCODE_CONFIG: "/home/me/opencode.json",
      GIT_AUTHOR_NAME: "me",
      EMPTY: undefined,
      REPRISE_NATS_PASSWORD: canary,
      NATS_CREDS: canary,
      OPENCODE_SERVER_PASSWORD: canary,
      OPENCODE_PID: canary,
      GIT_DIR: canary,
      GIT_INDEX_FILE: canary
    },
    "secret"
  )

  it("keeps the user's configuration, directories and keys", () => {
    const { ANTHROPIC_API_KEY, GIT_AUTHOR_NAME, OPENCODE_CONFIG, PATH, XDG_CONFIG_HOME } = environment
    assert.deepStrictEqual(
      [ANTHROPIC_API_KEY, GIT_AUTHOR_NAME, OPENCODE_CONFIG, PATH, XDG_CONFIG_HOME],
      ["key", "me", "/home/me/opencode.json", "/bin", "/home/me/.config"]
    )
  })

  it("leaves out Reprise's credentials and the variables of an outer OpenCode or git", () => {
    assert.notInclude(Object.values(environment), canary)
  })

  it("stops OpenCode from updating itself, and sets its password", () => {
    assert.strictEqual(environment["OPENCODE_DISABLE_AUTOUPDATE"], "1")
    assert.strictEqual(environment["OPENCODE_SERVER_PASSWORD"], "secret")
  })
})

describe("permissionRules", () => {
  const last = (mode: "ask" | "workspace" | "all", name: string) =>
    permissionRules(mode).findLast((rule) => rule.pattern === "*" && ["*", name].includes(rule.permission))?.action

  it("allow everything in mode all", () => {
    assert.deepStrictEqual(permissionRules("all"), [{ permission: "*", pattern: "*", action: "allow" }])
  })

  it("ask before reads and deny searches where commands need no question, since a command can make a link", () => {
    const rules = permissionRules("ask", true)
    const last = (name: string) => rules.findLast(({ pattern, permission }) => pattern === "*" && permission === name)
    assert.strictEqual(last("read")?.action, "ask")
    assert.strictEqual(last("grep")?.action, "deny")
  })

  it("ask before changes and unknown tools in both other modes", () => {
    for (const mode of ["ask", "workspace"] as const) {
      for (const name of ["edit", "bash", "webfetch", "external_directory", "doom_loop", "some_mcp_tool"]) {
        assert.strictEqual(last(mode, name), "ask", name)
      }
      assert.strictEqual(last(mode, "task"), "deny")
      for (const name of ["read", "glob", "grep", "question"]) assert.strictEqual(last(mode, name), "allow", name)
    }
  })
})
