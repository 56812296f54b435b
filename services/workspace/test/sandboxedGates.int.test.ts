/** What a quality gate tries to get out of the sandbox with: the table is in `libs/sandbox/src/testing.ts`. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { findUsability, layerSandbox } from "@reprise/sandbox"
import { cleanUp, escapedFrom, escapes, makeScene, recorded } from "@reprise/sandbox/testing"
import { Effect } from "effect"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { gates } from "./support/commands.ts"
import { adapters, placeAt } from "./support/repository.ts"

const usability = await Effect.runPromise(findUsability(process.env))
if (usability._tag === "unusable") process.stdout.write(`sandbox tests: skipped. ${usability.reason}\n`)

const scene = Effect.acquireRelease(
  Effect.promise(async () => {
    const root = mkdtempSync(join(tmpdir(), "reprise-gates-"))
    return { root, ...(await makeScene(root)) }
  }),
  (it) =>
    Effect.sync(() => {
      cleanUp(it)
      rmSync(it.root, { recursive: true, force: true })
    })
)

describe.skipIf(usability._tag === "unusable")("quality gates in the sandbox", () => {
  layer(adapters, { excludeTestServices: true })((it) => {
    it.effect("get out by none of the ways of the table, and say how they ended", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const commands = [...escapes.map((_, index) => recorded(here, index)), "exit 3"]
        const event = yield* qualityGates(gates(commands), placeAt(here.workspace)).pipe(
          Effect.provide(
            layerSandbox({
              mode: "auto",
              gates: true,
              settings: { write: [], read: [], deny: [], network: [] },
              stateDirectory: here.stateDirectory,
              environment: { ...process.env, HOME: here.home }
            })
          )
        )
        assert.deepStrictEqual(escapedFrom(here), [])
        if (event._tag !== "QualityFailed") return assert.fail(event._tag)
        assert.strictEqual(event.results.at(-1)?.exitCode, 3)
      })
    )
  })
})
