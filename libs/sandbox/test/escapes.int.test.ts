import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, escapedFrom, escapes, scene } from "../src/testing/index.ts"
import { sceneAfterAll, tryOne } from "./support/allEscapes.ts"

const sandboxed = await canSandbox()

describe.skipIf(!sandboxed)("the sandbox", () => {
  it.live("keeps every try of the table inside, for an author", () =>
    Effect.gen(function* () {
      assert.isAtLeast(escapes.length, 40)
      assert.deepStrictEqual(escapedFrom(yield* sceneAfterAll("author")), [])
    })
  )

  it.live("is what keeps them inside: a plain shell lets most of them out", () =>
    Effect.gen(function* () {
      const here = yield* scene
      // The others would change this machine.
      const outside = /process|mount|namespace|root|grandchild|machine|crontab|usr/
      yield* Effect.forEach(escapes, (attempt, index) =>
        outside.test(attempt.title) ? Effect.void : tryOne(here, "/bin/bash", attempt, index)
      )
      const out = escapedFrom(here).filter((line) => !line.endsWith("not tried"))
      assert.isAtLeast(out.length, 30, out.join("\n"))
    })
  )
})
