import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { oddFiles } from "@reprise/process/testing"
import { Effect } from "effect"
import { readSecret } from "../src/work/secrets.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-secret-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("a secret in a file", () => {
  it.live("is its text without the blanks around it", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "secret")
      writeFileSync(path, " hush\n")
      assert.strictEqual(yield* readSecret("The password", `file:${path}`, {}), "hush")
    })
  )

  it.live.each(oddFiles)("is missing, and not waited for, where there is $name", ({ put }) =>
    Effect.gen(function* () {
      const path = join(yield* folder, "secret")
      const remove = yield* Effect.promise(() => put(path))
      const { message } = yield* Effect.flip(readSecret("The password", `file:${path}`, {}))
      assert.strictEqual(message, `The password is missing: ${path} cannot be read.`)
      remove()
    })
  )
})
