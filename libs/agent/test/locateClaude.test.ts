/** Where Claude's program is looked for. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { agentPackages } from "../src/agentPackages.ts"
import { locateClaude } from "../src/claude/sdk/ClaudeSdk.ts"

const platform = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`

describe("locateClaude", () => {
  it.effect("says how to install a program that is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(locateClaude({ REPRISE_CLAUDE: "/nowhere/claude" }))
      assert.include(error.message, "/nowhere/claude")
      assert.match(error.message, /'npm i --no-save @anthropic-ai\/claude-agent-sdk@\d[.\d]+'/)
    })
  )

  it.effect("finds the program that Reprise installed, where the SDK beside it has none", () =>
    Effect.gen(function* () {
      const cache = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-cache-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
      )
      const empty = yield* Effect.flip(locateClaude({ XDG_CACHE_HOME: cache }))
      assert.match(empty.message, /its program for \S+ is missing.*'npm i --no-save \S+-sdk-\w+-\w+@/)

      const { name, version } = agentPackages.claude
      const packages = join(cache, "reprise/agents", `${name.replace("/", "-")}@${version}`, "node_modules")
      const write = (path: string, text: string) => {
        mkdirSync(dirname(join(packages, path)), { recursive: true })
        writeFileSync(join(packages, path), text)
      }
      write(`${name}/package.json`, JSON.stringify({ name, version, main: "sdk.js" }))
      write(`${name}/sdk.js`, "")
      write(`${platform}/package.json`, JSON.stringify({ name: platform, version }))
      write(`${platform}/claude`, "#!/bin/sh\n")
      chmodSync(join(packages, platform, "claude"), 0o700)
      assert.deepStrictEqual(yield* locateClaude({ XDG_CACHE_HOME: cache }), {
        version,
        program: join(packages, platform, "claude"),
        entry: join(packages, name, "sdk.js")
      })
    })
  )

  it("is tested in the version that the adapter was measured with", async () => {
    const tested = await import("../../../test/claude/package.json", { with: { type: "json" } })
    const { name, version } = agentPackages.claude
    assert.deepStrictEqual({ ...tested.default.dependencies }, { [name]: version })
  })
})
