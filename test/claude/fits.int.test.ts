import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { lacksTools, toolPackage } from "../../house/src/installTools.ts"

const lacksSdk = !existsSync(join(import.meta.dirname, "node_modules/@anthropic-ai/claude-agent-sdk/sdk.d.ts"))

if (lacksTools()) {
  process.stderr.write(
    "The types of Claude's SDK are not checked: `npm ci --prefix house/tools` installs the compiler.\n"
  )
}

describe.skipIf(lacksSdk || lacksTools())("the Claude agent SDK", () => {
  it("has the types that the adapter takes it to have", () => {
    const compiler = join(toolPackage("typescript"), "bin/tsc")
    const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", import.meta.dirname], { encoding: "utf8" })
    assert.strictEqual(status, 0, stdout)
  })
})
