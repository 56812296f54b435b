import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const root = join(import.meta.dirname, "../..")
const files = globSync("{cli,libs/*,services/*}/src/**/*.ts", { cwd: root }).filter(
  // These run when they are loaded. `libs/testing` needs vitest.
  (file) => !file.endsWith("/main.ts") && !file.startsWith("libs/testing/")
)

describe("the sources", () => {
  it.live("are loaded by Node as they are, every file of them", () =>
    Effect.gen(function* () {
      assert.isAbove(files.length, 100)
      const imports = files.map((file) => `await import(${JSON.stringify(join(root, file))})`)
      const load = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", imports.join("\n")])
      const { stderr } = yield* Effect.promise(() => load)
      assert.strictEqual(stderr, "")
    })
  )
})
