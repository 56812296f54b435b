// @module-tag long
/** A broker and a store of a Reprise before there were identities on one machine: one user for everything. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EmbeddedServer } from "@reprise/nats"
import { openTemplate } from "@reprise/nats/testing"
import { replaceFile } from "@reprise/process"
import { Effect } from "effect"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

/** Runs the broker of a world as an older Reprise did, until the scope closes. */
const olderBroker = Effect.fnUntraced(function* ({ root }: World) {
  const directory = join(root, ".reprise")
  yield* EmbeddedServer.make({ directory, template: openTemplate })
  const path = join(directory, "endpoint.json")
  const { access: _, ...endpoint } = JSON.parse(readFileSync(path, "utf8"))
  yield* Effect.promise(() => replaceFile(path, `${JSON.stringify({ ...endpoint, version: 1 })}\n`))
})

describe("beside a broker that an older Reprise runs", () => {
  it.live("commands do the work, answer and prune; afterwards the same store has an identity for each service", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const succeeds = (...args: ReadonlyArray<string>) =>
        Effect.map(world.reprise(...args), ({ code, stderr }) => assert.strictEqual(code, 0, `${args}: ${stderr}`))
      // Makes the state folder, which must be this machine's own.
      yield* Effect.flatMap(world.start("watch"), (watch) => watch.waitFor(/Watching every run/)).pipe(Effect.scoped)
      yield* Effect.gen(function* () {
        yield* olderBroker(world)
        const up = yield* world.start("up")
        yield* up.waitFor(/Serving/)
        assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
        yield* succeeds("dead-letters", "list")
        yield* up.kill("SIGTERM")
      }).pipe(Effect.scoped)
      const [question] = yield* world.questions
      yield* succeeds("gate", "answer", question?.escalationId ?? "", "continue-session")
      yield* succeeds("run", "PLAN.md")
      yield* Effect.gen(function* () {
        yield* olderBroker(world)
        const up = yield* world.start("up")
        yield* up.waitFor(/Serving/)
        yield* succeeds("prune", "--days", "0", "--yes")
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(yield* world.runs, [])
    })
  )
})
