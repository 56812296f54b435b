// @module-tag long
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { NatsShape } from "@reprise/nats"
import { Effect, Schema } from "effect"
import { connectAs } from "../harness/brokerOf.ts"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const decodeLetters = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ data: Schema.Array(Schema.Struct({ letter: Schema.Int })) }))
)

/** Somebody sends garbage; it is listed, shown and dropped. */
const dropOneDeadLetter = Effect.fnUntraced(function* (world: World, { js }: NatsShape) {
  yield* Effect.promise(() => js.publish("reprise.command.gate.x", "garbage"))
  const letters = world
    .reprise("dead-letters", "list", "--json")
    .pipe(Effect.map(({ stdout }) => decodeLetters(stdout).data))
  const [found] = yield* Effect.repeat(letters, { until: (all) => all.length > 0 })
  const id = `${found?.letter ?? 0}`
  assert.match((yield* world.reprise("dead-letters", "show", id)).stdout, /could not handle it.*envelope[\s\S]*garbage/)
  const refused = yield* world.reprise("dead-letters", "replay", id)
  assert.deepStrictEqual([refused.code, /cannot be sent again/.test(refused.stderr)], [2, true])
  assert.strictEqual((yield* world.reprise("dead-letters", "drop", id)).code, 0)
  assert.strictEqual((yield* world.reprise("dead-letters", "drop", id)).code, 2)
  assert.deepStrictEqual(yield* letters, [])
})

/** An entry that no version writes any more, with an event that this one does not know. */
const ofAnotherVersion = (run: string): string =>
  JSON.stringify({
    ...{ input: { id: "x", type: "AnswerReceived" }, at: "2026-11-01T00:00:00.000Z", run, outgoing: [] },
    traceparent: "00-00000000000000000000000000000001-0000000000000001-01",
    events: [{ _tag: "GuidanceKept", text: "garbage" }]
  })

describe("a run whose journal holds what this version cannot read", () => {
  it.live.each([
    ["run", ofAnotherVersion],
    ["workspace", () => "garbage"]
  ] as const)("(%s) is ended by 'repair', which says what is lost; the plan runs again", ([actor, unreadable]) =>
    Effect.gen(function* () {
      const story = script(once({ role: "author", kind: "report" }, needsHuman("Which way?")))
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: story })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
      const [parked] = yield* world.runs
      const runId = parked?.runId ?? ""
      const nothing = yield* world.reprise("repair", runId)
      assert.match(nothing.stderr, /nothing to repair/)
      const replayed = yield* world.reprise("doctor", "--replay", runId)
      assert.deepStrictEqual([replayed.code, /replayed without a difference/.test(replayed.stdout)], [0, true])

      const up = yield* world.start("up")
      yield* up.waitFor(/Ctrl-C stops/)
      const nats = yield* connectAs(world, "operator")
      yield* Effect.promise(() => nats.js.publish(`reprise.journal.${actor}.${runId}`, unreadable(runId)))
      if (actor === "run") {
        yield* dropOneDeadLetter(world, nats)
        for (const command of [
          ["status", runId],
          ["abort", runId],
          ["run", "PLAN.md", "--no-input"]
        ]) {
          const refused = yield* world.reprise(...command)
          assert.strictEqual(refused.code, 3, refused.stderr)
          assert.match(refused.stderr, /The journal of run \S+ cannot be read.*\n'reprise repair RUN' ends its run/)
        }
      }

      const broken = yield* world.reprise("doctor", "--replay", runId)
      assert.strictEqual(broken.code, 3, broken.stderr)
      assert.match(broken.stdout, /journal entry \d+[\s\S]*cannot be/)
      if (actor === "run") assert.match(broken.stdout, /'GuidanceKept'/)
      const unasked = yield* world.reprise("repair", runId)
      assert.strictEqual(unasked.code, 2)
      assert.match(
        unasked.stderr,
        new RegExp(`${actor} ${runId}: its journal of \\d+ entries[\\s\\S]*lost[\\s\\S]*kept`)
      )
      const repaired = yield* world.reprise("repair", runId, "--yes")
      assert.strictEqual(repaired.code, 0, repaired.stderr)
      const archive = join(world.root, ".reprise", "archive", `${runId}.json`)
      assert.isTrue(existsSync(archive))
      assert.include(readFileSync(archive, "utf8"), "garbage")
      const again = yield* world.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.deepStrictEqual((yield* world.runs).map(({ status }) => status).sort(), ["aborted", "completed"])
      assert.deepStrictEqual(
        (yield* world.questions).filter(({ state }) => state === "open"),
        []
      )
      // At rest, once the host has stopped its agents and released its workspace, it is pruned like any other.
      const prune = Effect.andThen(world.reprise("prune", "--days", "0", "--yes"), world.runs)
      assert.deepStrictEqual(yield* Effect.repeat(prune, { until: (runs) => runs.length === 0 }), [])
    }).pipe(Effect.scoped)
  )
})
