import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findProject } from "../src/project/findProject.ts"
import { prepareState } from "../src/project/stateOrigin.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const scratch = scratchRepository()

describe("a repository in which a command was killed", () => {
  it.effect("is not used while nobody can read which files that command may have made", () =>
    Effect.gen(function* () {
      yield* prepareState(scratch.project)
      // No process has this number: the largest one is smaller.
      mkdirSync(join(scratch.project.directory, "sandbox", "hosts", "1", "heard", "begun-99999999"), {
        recursive: true
      })
      const failure = yield* Effect.flip(findProject(scratch.project.root))
      assert.strictEqual(failure.exitCode, 3)
      assert.match(failure.message, /could not be moved away: .*begun-99999999 says which files a command may not make/)
    })
  )
})
