import { assert, describe, it } from "@effect/vitest"
import type { PermissionMode, RunOptions } from "@reprise/protocol"
import { fromCommandLine } from "../src/config/layers.ts"
import type { SettingPath } from "../src/config/settingsTable.ts"
import { configOf, layerOf } from "./support/layers.ts"

const { resolved, settings } = configOf(layerOf({ "gates.qualityTimeoutMs": 5 }))

describe("the settings", () => {
  it("have the types of their table", () => {
    const mode: PermissionMode = settings.permissions
    const limits: RunOptions["limits"] = settings.limits
    assert.deepStrictEqual([mode, limits.costBudget, settings.gates.qualityTimeoutMs], ["ask", 0, 5])
  })

  it("do not compile if a name is misspelt, or a value is used as another type", () => {
    // @ts-expect-error a misspelt section
    assert.isUndefined(settings.sesions)
    // @ts-expect-error a misspelt key
    assert.isUndefined(settings.sessions.idelAfterMs)
    // @ts-expect-error a number is not a permission mode
    const mode: PermissionMode = settings.limits.costBudget
    assert.isNumber(mode)
    // @ts-expect-error a setting without a default may be unset
    const url: string = settings.nats.url
    assert.isUndefined(url)
    // @ts-expect-error a misspelt path
    const path: SettingPath = "sesions.idelAfterMs"
    assert.strictEqual(resolved(path).source, "default")
  })

  it("take only the flags that were given", () => {
    const layer = fromCommandLine({ runtime: "claude", model: undefined, nats: { url: undefined } })
    assert.deepStrictEqual([...layer.values], [["runtime", "claude"]])
    // @ts-expect-error a misspelt key
    fromCommandLine({ nats: { ulr: "x" } })
    // @ts-expect-error a value of another type
    fromCommandLine({ workspace: { worktree: "yes" } })
  })
})
