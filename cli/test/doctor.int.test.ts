import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { checkRepository } from "../src/flows/doctor/repository.ts"
import { projectAt } from "../src/project/Project.ts"

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reprise-doctor-"))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe("the doctor's finding about a repository", () => {
  it.effect("is its root if Reprise can keep its state there", () =>
    Effect.gen(function* () {
      const fresh = yield* checkRepository(projectAt(root))
      assert.deepStrictEqual([fresh.state, fresh.detail], ["ok", root])
      mkdirSync(join(root, ".reprise"))
      assert.strictEqual((yield* checkRepository(projectAt(root))).state, "ok")
    })
  )

  it.effect("is broken if a file is where the state folder should be", () =>
    Effect.gen(function* () {
      writeFileSync(join(root, ".reprise"), "")
      const found = yield* checkRepository(projectAt(root))
      assert.strictEqual(found.state, "broken")
      assert.strictEqual(found.detail, `${join(root, ".reprise")} is not a folder.`)
    })
  )
})
