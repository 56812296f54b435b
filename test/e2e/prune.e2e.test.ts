// @module-tag long
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld, PublicLine } from "../harness/World.ts"

const decodeArchive = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      run: Schema.Struct({ runId: Schema.String, status: Schema.String }),
      sessions: Schema.Array(Schema.Struct({ sessionId: Schema.String })),
      escalations: Schema.Array(Schema.Unknown),
      events: Schema.Array(PublicLine)
    })
  )
)

describe("reprise prune", () => {
  it.live("archives and removes finished runs, and leaves open runs alone", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        config: 'permissions = "all"\n[gates]\nquality = ["true"]\n',
        files: { "OTHER.md": plan("Another") },
        script: script()
      })
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stderr)
      const [finished] = yield* world.runs
      const runId = finished?.runId ?? ""
      const events = yield* world.eventsOf(runId)
      const sessions = yield* world.sessions
      const logs = join(world.root, ".reprise", "logs", runId)
      assert.notStrictEqual(readdirSync(logs).length, 0)

      const young = yield* world.reprise("prune", "--yes", "--json")
      assert.deepInclude(JSON.parse(young.stdout), { data: { pruned: [], kept: 1 } })
      const unasked = yield* world.reprise("prune", "--days", "0")
      assert.strictEqual(unasked.code, 2)
      assert.match(unasked.stderr, new RegExp(`${runId}[\\s\\S]*--yes`))
      assert.strictEqual((yield* world.runs).length, 1)

      const pruned = yield* world.reprise("prune", "--days", "0", "--yes", "--json")
      assert.strictEqual(pruned.code, 0, pruned.stderr)
      const path = `.reprise/archive/${runId}.json`
      assert.deepInclude(JSON.parse(pruned.stdout), {
        data: { pruned: [{ runId, planPath: "PLAN.md", archive: path }], kept: 0 }
      })
      const archive = decodeArchive(readFileSync(join(world.root, path), "utf8"))
      assert.deepInclude(archive.run, { runId, status: "completed" })
      assert.deepStrictEqual(archive.events, events)
      assert.deepStrictEqual(
        archive.sessions.map(({ sessionId }) => sessionId).sort(),
        sessions.map(({ sessionId }) => sessionId as string).sort()
      )

      const conversations = join(world.root, ".reprise", "agent-sessions")
      assert.deepStrictEqual(
        readdirSync(conversations).sort(),
        sessions.map(({ sessionId }) => sessionId as string).sort()
      )

      assert.deepStrictEqual(yield* world.runs, [])
      assert.deepStrictEqual(yield* world.sessions, [])
      assert.strictEqual((yield* world.reprise("logs", runId)).code, 2)
      assert.isFalse(existsSync(logs))

      const next = yield* world.reprise("run", "OTHER.md")
      assert.strictEqual(next.code, 0, next.stderr)
      const again = yield* world.reprise("prune", "--days", "0", "--yes", "--json")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.strictEqual(readdirSync(join(world.root, ".reprise", "archive")).length, 2)
    })
  )
})
