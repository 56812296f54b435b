// @module-tag long
/** What a quality gate tries to get out of the sandbox with: the table is in `libs/sandbox/src/testing.ts`. */
import { lstatSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { layerSandbox } from "@reprise/sandbox"
import { canSandbox, escapedFrom, escapes, recorded, scene } from "@reprise/sandbox/testing"
import { Effect, Fiber, Schedule } from "effect"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { gates } from "./support/commands.ts"
import { adapters, placeAt } from "./support/repository.ts"

const sandboxed = await canSandbox()

describe.skipIf(!sandboxed)("quality gates in the sandbox", () => {
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

    it.effect("leave nothing that may not be made when they are ended, before anything else is done", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const places = ["reprise.local.toml", ".git/commondir", ".git/COMMIT_EDITMSG"].map((name) =>
          join(here.workspace, name)
        )
        const isLeft = (path: string) => {
          const found = lstatSync(path, { throwIfNoEntry: false })
          return path.endsWith("EDITMSG") ? found?.isSymbolicLink() === true : found !== undefined
        }
        const command = `ln -sf ${here.home}/escaped .git/COMMIT_EDITMSG; echo x > reprise.local.toml; echo x > .git/commondir; exec sleep 3600`
        const running = yield* qualityGates(gates([command]), placeAt(here.workspace)).pipe(
          Effect.provide(
            layerSandbox({
              mode: "auto",
              gates: true,
              settings: { write: [], read: [], deny: [], network: [] },
              stateDirectory: here.stateDirectory,
              environment: { ...process.env, HOME: here.home }
            })
          ),
          Effect.forkScoped({ startImmediately: true })
        )
        yield* Effect.sync(() => places.every(isLeft)).pipe(
          Effect.repeat({ until: (all) => all, schedule: Schedule.spaced("50 millis") })
        )
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(places.filter(isLeft), [])
      })
    )

    it.effect("are asked about nothing, and what the sandbox refuses to each is in its result", () =>
      Effect.gen(function* () {
        const here = yield* scene
        const curl = "curl -sS -m 20 --noproxy '' http://example.org/"
        const commands = ["true", `${curl}; ${curl}`, `echo x > ${here.home}/data; exit 0`]
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
        if (event._tag !== "QualityPassed") return assert.fail(JSON.stringify(event))
        assert.deepStrictEqual(
          event.results.map(({ refused }) => refused),
          [
            undefined,
            [{ sandbox: "network", text: "network: example.org" }],
            [{ sandbox: "write", text: `write: ${here.home}/data` }]
          ]
        )
      })
    )
  })
})
