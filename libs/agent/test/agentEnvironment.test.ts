import { assert, describe, it } from "@effect/vitest"
import { acpEnvironment, openCodeEnvironment } from "../src/agentEnvironment.ts"
import { permissionRules } from "../src/opencode/session/permissionRules.ts"
import { heldBack, noRules } from "../src/rules/PermissionRules.ts"

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

describe("acpEnvironment", () => {
  it("sets a password for the port of OpenCode, and never the one of an outer OpenCode", () => {
    const outer = {
      PATH: "/bin",
      OPENCODE_SERVER_PASSWORD: "outer",
      OPENCODE_SERVER_USERNAME: "outer",
      CLAUDECODE: "1"
    }
    assert.deepStrictEqual(acpEnvironment(outer, "secret"), { PATH: "/bin", OPENCODE_SERVER_PASSWORD: "secret" })
  })
})

describe("permissionRules", () => {
  const nothing = heldBack(noRules)
  const last = (mode: "ask" | "workspace" | "all", name: string) =>
    permissionRules(mode, false, nothing).findLast(
      (rule) => rule.pattern === "*" && ["*", name].includes(rule.permission)
    )?.action

  it("allow everything in mode all", () => {
    assert.deepStrictEqual(permissionRules("all", false, nothing), [{ permission: "*", pattern: "*", action: "allow" }])
  })

  it("ask before reads and deny searches where commands need no question, since a command can make a link", () => {
    const rules = permissionRules("ask", true, nothing)
    const last = (name: string) => rules.findLast(({ pattern, permission }) => pattern === "*" && permission === name)
    assert.strictEqual(last("read")?.action, "ask")
    assert.strictEqual(last("grep")?.action, "deny")
  })

  it("ask about what rules hold back in every mode, where neither a search nor a subagent may find it", () => {
    const held = { commands: true, files: true, addresses: true }
    for (const mode of ["ask", "workspace", "all"] as const) {
      const rules = permissionRules(mode, false, held)
      const of = (name: string) => rules.findLast(({ permission }) => permission === name)?.action
      for (const name of ["bash", "read", "edit", "webfetch"]) assert.strictEqual(of(name), "ask", name)
      for (const name of ["grep", "task"]) assert.strictEqual(of(name), "deny", name)
    }
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
