import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { consoleToken } from "../src/project/consoleSecrets.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-token-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)
const project = Effect.map(folder, (root) => ({ root, directory: join(root, ".reprise") }))

describe("the token of the web console", () => {
  it.live("is made once, long, and for its owner's eyes only", () =>
    Effect.gen(function* () {
      const here = yield* project
      const [first, second] = yield* Effect.all([consoleToken(here), consoleToken(here)], { concurrency: 2 })
      const path = join(here.directory, "console.token")
      assert.strictEqual(Redacted.value(first), Redacted.value(second))
      assert.strictEqual(readFileSync(path, "utf8"), `${Redacted.value(first)}\n`)
      assert.lengthOf(Redacted.value(first), 43)
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.notInclude(String(first), Redacted.value(first))
    })
  )

  it.live.each([
    ["can be read by other users", (path: string) => chmodSync(path, 0o640)],
    ["can be written by other users", (path: string) => chmodSync(path, 0o666)],
    ["is damaged", (path: string) => writeFileSync(path, "short\n")]
  ] as const)("is refused when its file %s", ([problem, spoil]) =>
    Effect.gen(function* () {
      const here = yield* project
      yield* consoleToken(here)
      spoil(join(here.directory, "console.token"))
      const refused = yield* Effect.flip(consoleToken(here))
      assert.include(refused.message, problem)
      assert.match(refused.hint, /Remove the file/)
    })
  )
})
