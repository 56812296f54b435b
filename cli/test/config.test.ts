import { assert, describe, it } from "@effect/vitest"
import { defaultSettings } from "@reprise/session-manager/settings"
import { Duration, Result } from "effect"
import { type ConfigProblem, fromDocument, fromEnvironment, fromPlan, type Layer } from "../src/config/layers.ts"
import { lineOfKey, readToml } from "../src/config/readToml.ts"
import { resolve } from "../src/config/resolveConfig.ts"
import { sessionSettings } from "../src/config/serviceOptions.ts"
import { environmentName, type SettingPath, settingsTable } from "../src/config/settingsTable.ts"
import { explained } from "../src/flows/repository/explainConfig.ts"
import { configOf, layerOf } from "./support/layers.ts"

const problemOf = (result: Result.Result<unknown, ConfigProblem>): ConfigProblem => {
  if (Result.isSuccess(result)) throw new Error("there is no problem")
  return result.failure
}

describe("reading a configuration file", () => {
  it("turns sections into dotted paths", () => {
    const layer = fromDocument({ runtime: "opencode", gates: { quality: ["make"], phase: "human" } }, "reprise.toml")
    assert.deepStrictEqual(
      [...Result.getOrThrow(layer).values],
      [
        ["runtime", "opencode"],
        ["gates.quality", ["make"]],
        ["gates.phase", "human"]
      ]
    )
  })

  it.each([
    [{ modle: "a/b" }, "modle", "model"],
    [{ gates: { qualty: [] } }, "gates.qualty", "gates.quality"],
    [{ gate: { quality: [] } }, "gate", "gates"],
    [{ limits: { turnInactivityMS: 1 } }, "limits.turnInactivityMS", "limits.turnInactivityMs"]
  ])("refuses the unknown key of %j and suggests the nearest one", (document, unknown, suggestion) => {
    const problem = problemOf(fromDocument(document, "reprise.local.toml"))
    assert.strictEqual(problem.source, "reprise.local.toml")
    assert.include(problem.message, `'${unknown}'`)
    assert.include(problem.hint, `'${suggestion}'`)
  })

  it.each([
    ["x'.\nreprise: all settings are trusted", "'x'.\\nreprise: all settings are trusted'"],
    ["a".repeat(1_000_000), `'${"a".repeat(80)}…'`],
    ["a.".repeat(500_000), `'${"a.".repeat(40)}…'`]
  ])("shows an unknown key on one line, and no more of it than a line has", (key, shown) => {
    const problem = problemOf(fromDocument({ [key]: 1 }, "reprise.toml"))
    assert.strictEqual(problem.message, `reprise.toml has an unknown key ${shown}.`)
  })

  it.each([
    [{ log: { bogus: 1 } }, "[log] has level."],
    [{ bogus: 1 }, "Outside the sections there are runtime, model, reviewerModel, reviewerRuntime, reviewPath."],
    [{ permissions: { alow: {} } }, "[permissions] has mode, allow, ask, deny."],
    [
      { gate: { quality: [] } },
      "Outside the sections there are runtime, model, reviewerModel, reviewerRuntime, reviewPath."
    ]
  ])(
    "lists the keys that %j could have meant, since no command explains a file that cannot be read",
    (document, listed) => {
      assert.isTrue(problemOf(fromDocument(document, "reprise.toml")).hint.endsWith(listed))
    }
  )

  it("refuses a value in place of a section, naming the line and what to write", () => {
    const problem = problemOf(
      fromDocument({ gates: 3 }, "reprise.toml", (path) => lineOfKey('model = "a/b"\ngates = 3', path))
    )
    assert.strictEqual(problem.message, "reprise.toml, line 2: 'gates' is a section of settings, but is set to 3.")
    assert.include(problem.hint, "[gates]")
  })

  it("ignores a reference to the JSON schema", () => {
    assert.strictEqual(Result.getOrThrow(fromDocument({ $schema: "x.json" }, "reprise.toml")).values.size, 0)
  })

  it("accepts an empty file, which sets nothing", () => {
    assert.strictEqual(Result.getOrThrow(fromDocument({}, "reprise.toml")).values.size, 0)
  })
})

describe("the environment", () => {
  it.each<[SettingPath, string]>([
    ["runtime", "REPRISE_RUNTIME"],
    ["reviewerModel", "REPRISE_REVIEWER_MODEL"],
    ["gates.qualityTimeoutMs", "REPRISE_GATES_QUALITY_TIMEOUT_MS"],
    ["nats.storeMaxBytes", "REPRISE_NATS_STORE_MAX_BYTES"]
  ])("%s is overridden by %s", (path, name) => {
    assert.strictEqual(environmentName(path), name)
  })

  it("has one variable for each setting", () => {
    assert.strictEqual(new Set(settingsTable.map(({ path }) => environmentName(path))).size, settingsTable.length)
  })

  it("holds lists, numbers and booleans as JSON and everything else as text", () => {
    const { values } = fromEnvironment({
      REPRISE_GATES_QUALITY: '["npm test", "npm run lint"]',
      REPRISE_LIMITS_MAX_STEP_VISITS: "7",
      REPRISE_WORKSPACE_WORKTREE: "true",
      REPRISE_MODEL: "anthropic/some-model"
    })
    assert.deepStrictEqual(
      [...values],
      [
        ["model", "anthropic/some-model"],
        ["gates.quality", ["npm test", "npm run lint"]],
        ["limits.maxStepVisits", 7],
        ["workspace.worktree", true]
      ]
    )
  })

  it("keeps a text that happens to be JSON", () => {
    assert.strictEqual(fromEnvironment({ REPRISE_MODEL: "42" }).values.get("model"), "42")
  })

  it("treats an empty variable as not set and ignores variables that are not settings", () => {
    assert.strictEqual(fromEnvironment({ REPRISE_MODEL: "", REPRISE_NO_SUCH: "1", PATH: "/bin" }).values.size, 0)
  })

  it.each([
    ["REPRISE_GATES_PHASE", "never", /^REPRISE_GATES_PHASE is not valid: Expected "auto" \| "human", got "never"\.$/],
    ["REPRISE_NATS_PORT", "-3", /^REPRISE_NATS_PORT is not valid: Expected .*greater than or equal to 0, got -3\.$/],
    ["REPRISE_LIMITS_MAX_STEP_VISITS", "many", /^REPRISE_LIMITS_MAX_STEP_VISITS is not valid: .*, got "many"\.$/],
    ["REPRISE_WORKSPACE_WORKTREE", "1", /^REPRISE_WORKSPACE_WORKTREE is not valid: Expected boolean, got 1\.$/],
    ["REPRISE_GATES_QUALITY", "make", /^REPRISE_GATES_QUALITY is not valid: Expected array, got "make"\.$/],
    ["REPRISE_GATES_QUALITY", "[1]", /^REPRISE_GATES_QUALITY is not valid: Expected string at \[0\], got \[1\]\.$/]
  ])("is refused with %s = %j, naming the variable and what was expected", (name, value, message) => {
    assert.match(problemOf(resolve([fromEnvironment({ [name]: value })])).message, message)
  })

  it("gets a hint how to write a list when one is refused", () => {
    assert.include(problemOf(resolve([fromEnvironment({ REPRISE_GATES_QUALITY: "make" })])).hint, '["npm test"]')
  })
})

describe("the line of a key", () => {
  it.each([
    ["gates.quality", '# quality = []\n[ gates ]\n  quality = ["make"]', 3],
    ["gates.quality", 'gates.quality = ["make"]', 1],
    ["gates.quality", '"gates" . quality = ["make"]', 1],
    ["nats.port", "[gates]\nport = 1\n[nats]\nport = -1", 4],
    ["runtime", 'runtime = "x"\r\n', 1],
    ["gates", "\n[gates]", 2],
    ["gates.quality", 'gates = { quality = ["make"] }', undefined],
    ["model", "", undefined]
  ])("of %s in %j is %s", (path, text, line) => assert.strictEqual(lineOfKey(text, path), line))

  it("is named when a value is invalid", () => {
    const layer = { ...layerOf({ "nats.port": -1 }), lineOf: () => 7 }
    assert.include(problemOf(resolve([layer])).message, "reprise.toml, line 7: nats.port is not valid")
  })
})

describe("resolving", () => {
  it("gives every setting its default when nothing is set", () => {
    const config = configOf()
    for (const { fallback, path } of settingsTable) {
      assert.deepStrictEqual(config.resolved(path), { value: fallback, source: "default" }, path)
    }
  })

  it("has defaults that are valid", () => {
    const given = settingsTable.filter(({ fallback }) => fallback !== undefined)
    assert.isTrue(Result.isSuccess(resolve([layerOf(Object.fromEntries(given.map((s) => [s.path, s.fallback])))])))
  })

  it("reads a permission mode beside rules, and by itself, as the same setting", () => {
    const both = [{ permissions: "all" }, { permissions: { mode: "all", deny: { commands: ["git push *"] } } }]
    for (const document of both) {
      const config = configOf(Result.getOrThrow(fromDocument(document, "reprise.toml")))
      assert.strictEqual(config.settings.permissions, "all")
      assert.deepStrictEqual(config.resolved("permissions"), { value: "all", source: "reprise.toml" })
    }
  })

  it("adds up what is held back, so that no place takes it away, while the last list of what is allowed counts", () => {
    const config = configOf(
      layerOf({ "permissions.deny.commands": ["git push *"], "permissions.allow.commands": ["npm test"] }),
      layerOf(
        { "permissions.deny.commands": ["rm *", "git push *"], "permissions.allow.commands": [] },
        "reprise.local.toml"
      )
    )
    assert.deepStrictEqual(config.settings["permissions.deny"].commands, ["git push *", "rm *"])
    assert.deepStrictEqual(config.settings["permissions.allow"].commands, [])
  })

  it("explains how to write the mode beside rules, where TOML allows only one of both", () => {
    const problem = problemOf(readToml('permissions = "all"\n[permissions.allow]\ncommands = []\n', "reprise.toml"))
    assert.include(problem.hint, "'mode = …' below a line '[permissions]'")
  })

  it.each([
    ["permissions.allow.commands", ["git status; rm -rf /"], "a pattern for one command"],
    ["permissions.deny.commands", ["*"], undefined],
    ["permissions.allow.commands", ["* --version"], "a pattern that names its program"],
    ["permissions.ask.files", ["../other"], "a path without the names . and .."],
    ["permissions.allow.addresses", ["https://example.org/"], "a server's name such as example.org"]
  ] as const)("refuses a bad pattern of %s, %j, and says what it expects", (path, value, expected) => {
    const result = resolve([layerOf({ [path]: value })])
    if (expected === undefined) assert.isTrue(Result.isSuccess(result))
    else {
      const problem = problemOf(result)
      assert.include(problem.message, `reprise.toml: ${path} is not valid: Expected ${expected}`)
      assert.strictEqual(problem.hint, settingsTable.find((setting) => setting.path === path)?.description)
    }
  })

  it("lets the later layer win and remembers where a value came from", () => {
    const config = configOf(
      layerOf({ "gates.phase": "human", "nats.prefix": "team", model: "a/b" }),
      { source: "reprise.local.toml", values: new Map([["model", "c/d"]]) },
      fromEnvironment({ REPRISE_NATS_PREFIX: "ci" }),
      { source: "command line", values: new Map([["runtime", "claude"]]) }
    )
    assert.deepStrictEqual(config.resolved("gates.phase"), { value: "human", source: "reprise.toml" })
    assert.deepStrictEqual(config.resolved("model"), { value: "c/d", source: "reprise.local.toml" })
    assert.deepStrictEqual(config.resolved("nats.prefix"), {
      value: "ci",
      source: "environment",
      name: "REPRISE_NATS_PREFIX"
    })
    assert.deepStrictEqual(config.resolved("runtime"), { value: "claude", source: "command line" })
    assert.strictEqual(config.settings.nats.prefix, "ci")
  })

  it.each([
    ["gates.quality", "npm test"],
    ["gates.quality", [""]],
    ["gates.phase", "never"],
    ["limits.maxStepVisits", -1],
    ["limits.maxStepVisits", 1.5],
    ["workspace.worktree", "yes"],
    ["permissions", "everything"],
    ["model", ""],
    ["reviewPath", "../reviews/{phase}.md"],
    ["reviewPath", "/tmp/{phase}.md"],
    ["nats.port", 65_536]
  ])("refuses %s = %j and names its place", (path, value) => {
    const problem = problemOf(resolve([layerOf({ [path]: value })]))
    assert.include(problem.message, `reprise.toml: ${path} is not valid`)
    assert.strictEqual(problem.hint, settingsTable.find((setting) => setting.path === path)?.description)
  })

  it.each(["sonnet", "/sonnet", "anthropic/"])(
    "refuses the model %j for OpenCode, which would take another one",
    (model) => {
      const problem = problemOf(resolve([layerOf({ reviewerModel: "a/b" }), fromEnvironment({ REPRISE_MODEL: model })]))
      assert.include(problem.message, `REPRISE_MODEL is not valid: Expected provider/model, got "${model}"`)
      const ofReviewer = problemOf(resolve([layerOf({ model: "a/b", reviewerModel: model })]))
      assert.include(ofReviewer.message, "reprise.toml: reviewerModel is not valid")
      assert.strictEqual(configOf(layerOf({ model: "a/b/c" })).settings.model, "a/b/c")
      assert.strictEqual(configOf(layerOf({ runtime: "claude", model })).settings.model, model)
      const other = { reviewerRuntime: "claude", reviewerModel: model }
      assert.strictEqual(configOf(layerOf({ model: "a/b", ...other })).settings.reviewerModel, model)
      const reversed = problemOf(
        resolve([layerOf({ runtime: "claude", reviewerRuntime: "opencode", reviewerModel: model })])
      )
      assert.include(reversed.message, "reprise.toml: reviewerModel is not valid")
    }
  )

  it.each([
    ["codex", "acp:codex-acp"],
    ["opencode-acp", "acp:opencode acp"],
    ["acp:my-agent --acp", "acp:my-agent --acp"],
    ["opencode", "opencode"]
  ] as const)("takes the runtime %j for %j", (written, runtime) => {
    assert.strictEqual(configOf(layerOf({ runtime: written })).settings.runtime, runtime)
  })

  it.each(["cursor", "acp:sh -c 'x'", "acp:./agent"])("refuses the runtime %j", (runtime) => {
    assert.include(problemOf(resolve([layerOf({ runtime })])).message, "runtime is not valid")
  })

  it("refuses an invalid value even when a later layer overrides it", () => {
    assert.isTrue(
      Result.isFailure(resolve([layerOf({ "gates.phase": "never" }), fromEnvironment({ REPRISE_GATES_PHASE: "auto" })]))
    )
  })
})

describe("the front matter of a plan", () => {
  const plan = Result.getOrThrow(
    fromPlan("docs/plan.md", { title: "T", gates: { phase: "human", quality: ["make"] }, limits: { costBudget: 2.5 } })
  )

  it("wins over the files and gives way to the environment and the command line", () => {
    const config = configOf(
      layerOf({ "gates.phase": "auto", "gates.quality": ["true"], "limits.costBudget": 1 }),
      { source: "reprise.local.toml", values: new Map([["gates.quality", ["false"]]]) },
      plan,
      fromEnvironment({ REPRISE_GATES_PHASE: "auto" })
    )
    assert.deepStrictEqual(config.resolved("gates.quality"), { value: ["make"], source: "plan", name: "docs/plan.md" })
    assert.deepStrictEqual(config.resolved("limits.costBudget"), { value: 2.5, source: "plan", name: "docs/plan.md" })
    assert.deepInclude(config.resolved("gates.phase"), { value: "auto", source: "environment" })
  })

  it("leaves the settings that it does not name", () => {
    const config = configOf(layerOf({ "limits.maxStepVisits": 7 }), plan)
    assert.deepStrictEqual(config.resolved("limits.maxStepVisits"), { value: 7, source: "reprise.toml" })
  })

  it("sets nothing if the plan has none", () => {
    assert.strictEqual(Result.getOrThrow(fromPlan("p.md", {})).values.size, 0)
  })

  it("is named when a value is invalid", () => {
    const wrong: Layer = { ...plan, values: new Map([["limits.maxStepVisits", -1]]) }
    assert.include(problemOf(resolve([wrong])).message, "docs/plan.md: limits.maxStepVisits is not valid")
  })

  it("is named by config explain, for each setting that it decides", () => {
    const rows = explained(configOf(layerOf({ model: "a/b" }), plan, fromEnvironment({ REPRISE_RUNTIME: "claude" })))
    const from = (setting: string) => rows.find((row) => row.setting === setting)?.from
    assert.strictEqual(from("gates.quality"), "docs/plan.md")
    assert.strictEqual(from("model"), "reprise.toml")
    assert.strictEqual(from("runtime"), "REPRISE_RUNTIME")
    assert.strictEqual(from("gates.qualityTimeoutMs"), "default")
  })
})

describe("the settings of the session-manager", () => {
  it("are its own defaults unless they are configured", () => {
    const { firstWait: _, longestAnswerChars: ___, longestWait: __, ...defaults } = defaultSettings
    assert.deepStrictEqual(sessionSettings(configOf().settings), defaults)
    const config = configOf(layerOf({ "sessions.idleAfterMs": 5, "sessions.maxAutoContinues": 0 }))
    assert.deepStrictEqual(sessionSettings(config.settings), {
      ...defaults,
      idleAfter: Duration.millis(5),
      maxAutoContinues: 0
    })
  })
})
