import { assert, describe, it } from "@effect/vitest"
import { parsePlan } from "@reprise/plan"
import { defaultRunOptions, type PermissionMode, type RuntimeName } from "@reprise/protocol"
import type { Standing } from "@reprise/sandbox"
import { Result } from "effect"
import { autoWaitsAt, obstacleToAuto } from "../src/flows/run/unattended.ts"
import { warningOf } from "../src/system/agents/sandbox.ts"
import { configOf, layerOf } from "./support/layers.ts"

const used: Standing = { _tag: "used", engine: "bubblewrap" }
const off: Standing = { _tag: "off" }
const unusable: Standing = { _tag: "unusable", reason: "bubblewrap is not installed." }

interface Case {
  readonly permissions: PermissionMode
  readonly standing: Standing
  readonly runtime?: RuntimeName
  readonly openCodeUrl?: string
  readonly approves?: boolean
  readonly attended?: boolean
  readonly allows?: boolean
  /** Undefined: it works. */
  readonly says: RegExp | undefined
}

const cases: ReadonlyArray<Case> = [
  { permissions: "ask", standing: used, says: undefined },
  { permissions: "workspace", standing: used, says: undefined },
  { permissions: "all", standing: unusable, says: undefined },
  { permissions: "ask", standing: unusable, says: /permissions is "ask".*bubblewrap is not installed/ },
  { permissions: "workspace", standing: unusable, says: /permissions is "workspace".*bubblewrap/ },
  { permissions: "ask", standing: off, says: /sandbox\.mode is "off"/ },
  { permissions: "ask", standing: off, approves: true, says: undefined },
  { permissions: "ask", standing: off, attended: true, says: undefined },
  { permissions: "ask", standing: off, allows: true, says: undefined },
  { permissions: "ask", standing: used, openCodeUrl: "http://127.0.0.1:4096", says: /opencode\.url/ },
  { permissions: "ask", standing: used, openCodeUrl: "http://127.0.0.1:4096", runtime: "claude", says: undefined },
  {
    permissions: "ask",
    standing: { _tag: "used", engine: "seatbelt" },
    runtime: "acp:agent",
    says: /acp:agent runs its commands outside of the sandbox/
  },
  { permissions: "all", standing: used, runtime: "acp:agent", says: undefined },
  { permissions: "ask", standing: used, runtime: "acp:agent", says: undefined },
  { permissions: "ask", standing: unusable, runtime: "acp:agent", says: /bubblewrap is not installed/ }
]

describe("a run that nobody attends", () => {
  it.each(cases)("is refused where agents ask before each command, and else allowed: %j", (one) => {
    const { settings } = configOf(
      layerOf({
        ...(one.openCodeUrl === undefined ? {} : { "opencode.url": one.openCodeUrl }),
        ...(one.allows === true ? { "permissions.allow.commands": ["git commit *"] } : {}),
        ...(one.approves === true ? { "sessions.onPrompt": ["approve"] } : {})
      })
    )
    const options = {
      ...defaultRunOptions,
      auto: one.attended !== true,
      permissions: one.permissions,
      runtime: one.runtime ?? "opencode"
    }
    const found = obstacleToAuto(settings, options, one.standing)
    if (one.says === undefined) assert.isUndefined(found)
    else {
      assert.match(found?.message ?? "", one.says)
      assert.match(found?.hint ?? "", /reprise doctor.*permissions.*without --auto/)
    }
  })

  const plan = Result.getOrThrow(
    parsePlan(
      [
        "# P",
        "## Phase 1: One - COMPLETE",
        "- [ ] T0 Buy (checkpoint: human-action)",
        "## Phase 2: Two",
        "- [ ] T1 Buy a domain (checkpoint: human-action)",
        "- [ ] T2 Choose (checkpoint: decision)",
        "## Phase 3: Three",
        "- [ ] T3 Look (checkpoint: human-verify)",
        "- [ ] T4 Rebuild (checkpoint: architectural-change)",
        ""
      ].join("\n")
    )
  )

  it.each([
    [[], [/T1 \(human-action\)/, /T3 \(human-verify; gates\.verify would check it\)/, /T4/]],
    [["npm test"], [/T1/, /T4/]]
  ] as const)("is told at which checkpoints it will wait, with gates.verify %j", (verify, expected) => {
    const gates = { ...defaultRunOptions.gates, verify }
    const waits = autoWaitsAt(plan, { auto: true, gates })
    assert.strictEqual(waits.length, expected.length, waits.join("\n"))
    for (const [index, pattern] of expected.entries()) assert.match(waits[index] ?? "", pattern)
    assert.deepStrictEqual(autoWaitsAt(plan, { auto: false, gates }), [])
  })
})

describe("what a run says of its sandbox when it starts", () => {
  it.each([
    [used, undefined],
    [off, undefined],
    [unusable, /without a sandbox: bubblewrap is not installed/],
    [{ _tag: "used", engine: "seatbelt" }, /never tried.*\nCommands reach no name/]
  ] as ReadonlyArray<readonly [Standing, RegExp | undefined]>)("%j: %s", (standing, says) => {
    const said = warningOf(standing, ["opencode"])
    if (says === undefined) assert.isUndefined(said)
    else assert.match(said ?? "", says)
  })

  it.each([
    [used, "acp:opencode acp", undefined],
    [
      used,
      "acp:agent",
      /acp:agent runs in the sandbox as a whole.*agentWrite[\s\S]*not an agent that Reprise was tested with/
    ],
    [used, "acp:codex-acp", /^What acp:codex-acp does without asking is up to its own settings/],
    [off, "acp:opencode acp", undefined],
    [{ _tag: "used", engine: "seatbelt" }, "acp:opencode acp", /run without the sandbox: acp:opencode acp starts them/]
  ] as ReadonlyArray<readonly [Standing, RuntimeName, RegExp | undefined]>)(
    "of an agent by its command: %j, %s",
    (standing, runtime, says) => {
      const said = warningOf(standing, [runtime])
      if (says === undefined) assert.isUndefined(said)
      else assert.match(said ?? "", says)
    }
  )
})
