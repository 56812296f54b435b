// @module-tag long
/** An author may do all that a reviewer may, so this seldom tells more than the same table for an author. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, escapedFrom } from "../src/testing/index.ts"
import { sceneAfterAll } from "./support/allEscapes.ts"

const sandboxed = await canSandbox()

describe.skipIf(!sandboxed)("the sandbox", () => {
  it.live("keeps every try of the table inside, for a reviewer", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(escapedFrom(yield* sceneAfterAll("reviewer")), [])
    })
  )
})
