/** Where Claude's SDK and its program are looked for. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { agentPackages } from "../src/agentPackages.ts"
import { locateClaude } from "../src/claude/sdk/ClaudeSdk.ts"

const platform = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`

const emptyFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-packages-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** Writes a file of a package; a program can be run. */
const writeIn = (packages: string) => (path: string, text: string) => {
  const file = join(packages, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o700 })
  return file
}

const { name, version } = agentPackages.claude

describe("locateClaude", () => {
  it.effect("says how to install a program that is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(locateClaude({ REPRISE_CLAUDE: "/nowhere/claude" }))
      assert.include(error.message, "/nowhere/claude")
      assert.match(error.message, /'npm i --no-save @anthropic-ai\/claude-agent-sdk@\d[.\d]+'/)
    })
  )

  it.effect("finds the SDK and the program that Reprise installed, and says which of them is missing", () =>
    Effect.gen(function* () {
      const cache = yield* emptyFolder
      const located = locateClaude({ XDG_CACHE_HOME: cache })
      assert.match((yield* Effect.flip(located)).message, /no package \S+-sdk\).*'npm i --no-save \S+-sdk@/)

      const write = writeIn(join(cache, "reprise/agents", `${name.replace("/", "-")}@${version}`, "node_modules"))
      write(`${name}/package.json`, JSON.stringify({ name, version, main: "sdk.js" }))
      const entry = write(`${name}/sdk.js`, "")
      assert.match(
        (yield* Effect.flip(located)).message,
        /its program for \S+ is missing.*'npm i --no-save \S+-sdk-\w+-\w+@/
      )

      write(`${platform}/package.json`, JSON.stringify({ name: platform, version }))
      const program = write(`${platform}/claude`, "#!/bin/sh\n")
      assert.deepStrictEqual(yield* located, { version, program, entry })
    })
  )

  it.effect("finds the SDK beside the program that a human named", () =>
    Effect.gen(function* () {
      const folder = yield* emptyFolder
      const write = writeIn(join(folder, "node_modules"))
      const program = write(`${platform}/claude`, "#!/bin/sh\n")
      write(`${name}/package.json`, JSON.stringify({ name, version, main: "sdk.js" }))
      const entry = write(`${name}/sdk.js`, "")
      const named = { XDG_CACHE_HOME: folder, REPRISE_CLAUDE: program }
      assert.deepStrictEqual(yield* locateClaude(named), { version, program, entry })
    })
  )

  it("is tested in the version that the adapter was measured with", async () => {
    const tested = await import("../../../test/claude/package.json", { with: { type: "json" } })
    assert.deepStrictEqual({ ...tested.default.dependencies }, { [name]: version })
  })
})
