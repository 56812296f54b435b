import { assert, describe, it } from "@effect/vitest"
import { claudeEnvironment } from "../src/agentEnvironment.ts"
import { kindOfFailure, kindOfRetry } from "../src/claude/failures.ts"
import { promptUuid } from "../src/claude/session/SessionRecord.ts"
import {
  answeredInput,
  isApproved,
  isUnsafeRoot,
  questionsOf,
  settingSourcesOf,
  settingsOf,
  toolRequestOf,
  withheldFrom
} from "../src/claude/turn/claudePermissions.ts"
import { nothingProtected } from "../src/isInside.ts"
import { heldBack, noRules } from "../src/rules/PermissionRules.ts"

describe("the rules for Claude", () => {
  it("gives a prompt the same uuid every time, and each continuation another one", () => {
    const uuid = promptUuid("msg_1", 0)
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(uuid, promptUuid("msg_1", 0))
    const all = ["msg_1", "msg_2", "msg_11"].flatMap((id) => [0, 1, 11].map((n) => promptUuid(id, n)))
    assert.strictEqual(new Set(all).size, all.length)
  })

  it("distinguishes temporary failures from final ones by their codes", () => {
    assert.strictEqual(kindOfFailure({ error: "authentication_failed", text: "Please run /login" }), "unauthorized")
    assert.strictEqual(kindOfFailure({ error: "billing_error", text: "" }), "out_of_credits")
    assert.strictEqual(kindOfFailure({ error: "rate_limit", status: 429, text: "" }), "rate_limited")
    assert.strictEqual(kindOfFailure({ error: "server_error", status: 529, text: "" }), "rate_limited")
    assert.strictEqual(kindOfFailure({ error: "unknown", text: "socket hang up" }), "no_internet")
    assert.strictEqual(
      kindOfFailure({ error: "invalid_request", status: 400, text: "prompt is too long: 9 > 8" }),
      "context-overflow"
    )
    assert.strictEqual(kindOfFailure({ error: "invalid_request", status: 400, text: "no such model" }), "other")
    assert.strictEqual(kindOfRetry("unknown", null), "no_internet")
    assert.strictEqual(kindOfRetry("server_error", 500), "rate_limited")
    assert.strictEqual(kindOfRetry("authentication_failed", 401), "unauthorized")
  })

  it("names what each tool asks for, so that rules need no names of tools", async () => {
    const directory = import.meta.dirname
    const of = (tool: string, input: Record<string, unknown>) =>
      toolRequestOf(tool, input, { directory, protectedPaths: nothingProtected })
    const place = (name: string) => ({ name, real: name, guarded: false })
    assert.deepStrictEqual(await of("Bash", { command: "npm test" }), { kind: "command", command: "npm test" })
    assert.deepStrictEqual(await of("WebFetch", { url: "https://a.org/" }), { kind: "address", url: "https://a.org/" })
    assert.deepStrictEqual(await of("Write", { file_path: `${directory}/new` }), {
      kind: "change",
      places: [place("new")]
    })
    assert.deepStrictEqual(await of("Read", { file_path: "/etc/hosts" }), {
      kind: "read",
      places: [place("/etc/hosts")]
    })
    assert.deepStrictEqual(await of("Glob", { pattern: "*.ts" }), { kind: "read", places: [place(".")] })
    assert.deepStrictEqual(await of("WebSearch", { query: "x" }), { kind: "tool", name: "WebSearch" })
  })

  it("has Claude ask about what rules hold back, in every mode", () => {
    const held = { commands: true, files: true, addresses: true }
    const nothing = heldBack(noRules)
    assert.deepStrictEqual(settingsOf("all", nothing, "/main/.reprise"), {})
    assert.deepStrictEqual(settingsOf("ask", nothing, "/main/.reprise").permissions?.ask, ["Bash"])
    for (const mode of ["ask", "workspace", "all"] as const) {
      assert.deepStrictEqual(settingsOf(mode, held, "/main/.reprise").permissions?.ask, [
        "Bash",
        "Read",
        "Edit",
        "WebFetch"
      ])
    }
    assert.notInclude(withheldFrom(nothing), "Grep")
    assert.include(withheldFrom(held), "Grep")
  })

  it("denies Reprise's state, also where the session is in a worktree elsewhere", () => {
    assert.deepStrictEqual(settingsOf("ask", heldBack(noRules), "/a [b]/.reprise").permissions?.deny, [
      "Read(./.reprise/**)",
      "Read(//a \\[b]/.reprise/**)"
    ])
  })

  it("allows commands, and files inside the directory, where commands run in the sandbox", async () => {
    const protectedPaths = () => Promise.resolve([`${import.meta.dirname}/support`])
    const session = { permissions: "ask", directory: import.meta.dirname, protectedPaths } as const
    assert.isTrue(await isApproved("Bash", { command: "npm test" }, session, true))
    assert.isTrue(await isApproved("Write", { file_path: `${import.meta.dirname}/new` }, session, true))
    assert.isFalse(await isApproved("Write", { file_path: "/nowhere/a" }, session, true))
    assert.isFalse(await isApproved("Edit", { file_path: `${import.meta.dirname}/support/new` }, session, true))
    assert.isTrue(await isApproved("Read", { file_path: `${import.meta.dirname}/support/new` }, session, true))
    assert.isFalse(await isApproved("Write", { file_path: `${import.meta.dirname}/.git/hooks/x` }, session, true))
    assert.isFalse(await isApproved("WebFetch", { url: "https://example.org" }, session, true))
    assert.isTrue(await isApproved("Read", { file_path: `${import.meta.dirname}/new` }, session, true))
    assert.isFalse(await isApproved("Read", { file_path: "/etc/passwd" }, session, true))
  })

  it("reads a repository's own settings only in mode all, and only if they are trusted", () => {
    assert.deepStrictEqual(settingSourcesOf("ask", true), ["user"])
    assert.deepStrictEqual(settingSourcesOf("workspace", true), ["user"])
    assert.deepStrictEqual(settingSourcesOf("all", false), ["user"])
    assert.deepStrictEqual(settingSourcesOf("all", true), ["user", "project", "local"])
  })

  it("refuses all permissions as root outside a sandbox", () => {
    const isRoot = process.getuid?.() === 0
    assert.strictEqual(isUnsafeRoot("all", {}), isRoot)
    assert.isFalse(isUnsafeRoot("all", { IS_SANDBOX: "1" }))
    assert.isFalse(isUnsafeRoot("workspace", {}))
  })

  it("returns the chosen labels with the questions", () => {
    const options = ["red", "green"].map((label) => ({ label }))
    const input = {
      questions: [
        { question: "Which?", options },
        { question: "And?", options, multiSelect: true }
      ]
    }
    assert.deepStrictEqual(
      questionsOf(input).map(({ multiple }) => multiple),
      [false, true]
    )
    const { answers } = answeredInput(input, [["red"], ["red", "green"]])
    assert.deepStrictEqual(answers, { "Which?": "red", "And?": "red, green" })
  })

  it("passes the user's environment without Reprise's variables and those of an outer Claude or git", () => {
    const environment = claudeEnvironment({
      ANTHROPIC_API_KEY: "key",
      REPRISE_NATS_URL: "nats://secret",
      NATS_PASSWORD: "secret",
      CLAUDECODE: "1",
      CLAUDE_CODE_ENTRYPOINT: "cli",
      GIT_DIR: "/somewhere/.git",
      GIT_AUTHOR_NAME: "A"
    })
    assert.deepStrictEqual(environment, {
      ANTHROPIC_API_KEY: "key",
      GIT_AUTHOR_NAME: "A",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_RETRY_WATCHDOG: "1",
      CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1"
    })
  })
})
