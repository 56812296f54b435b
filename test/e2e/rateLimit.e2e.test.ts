// @module-tag long
/** The model's vendor refuses for a while: the work waits and says until when, tries again when told, or asks. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commits, once, plan, script } from "../harness/modelScript.ts"
import { screenOf } from "../harness/screenOf.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const author = { role: "author", kind: "work" } as const
const slowDown = { error: { message: "slow down", type: "rate_limit_error" } }

/** The author's first call of the model is refused for this long; the calls after it are answered. */
const limited = (retryAfterSeconds: number) => ({
  plan: plan("One"),
  script: script(
    once(author, [
      { bash: "true", fault: { status: 429, retryAfterSeconds, body: slowDown } },
      ...[commits("work.txt", "work")].flat()
    ])
  )
})

describe("a run whose model is rate-limited", () => {
  it.live("says until when it waits, to whoever looks, and tries again at once when it is told to", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(limited(1_800))
      const run = yield* world.start("run", "PLAN.md", "--no-input")
      yield* run.waitFor(
        /model failed \(rate_limited\), and is asked again at \d{4}-\d\d-\d\d \d\d:\d\d UTC: slow down/
      )

      const [{ runId } = assert.fail("no run")] = yield* world.runs
      const list = yield* world.reprise("status")
      assert.match(list.stdout, /Rate limited, again in (2\d:\d\d|30:00)/)
      const one = yield* world.reprise("status", runId)
      assert.match(one.stdout, /Rate limited, again in (2\d:\d\d|30:00) \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\): slow down/)
      assert.include(one.stdout, `next: it retries by itself; 'reprise resume ${runId}' retries now`)
      const [session] = yield* world.sessions
      assert.deepInclude(session?.postponed, { kind: "rate_limited", message: "slow down" })

      // Who comes late counts down too.
      const size = { columns: 100, rows: 30 }
      const late = yield* world.startIn({ input: size }, "run", "PLAN.md", "--no-input")
      yield* waitUntil(
        Effect.map(
          Effect.suspend(() => screenOf(late.stdout, size)),
          (rows) => (/Rate limited, again in 2\d:\d\d/.test(rows.at(-1) ?? "") ? true : undefined)
        )
      )

      const calls = (yield* world.model.calls).length
      const resumed = yield* world.reprise("resume")
      assert.deepStrictEqual([resumed.code, resumed.stdout], [0, ""], resumed.stderr)
      assert.include(resumed.stderr, `${runId} retries: now`)
      const { code, stderr } = yield* run.ended
      assert.strictEqual(code, 0, stderr)
      assert.include(stderr, "Retrying now, on request")
      assert.strictEqual((yield* late.ended).code, 0)
      assert.isAbove((yield* world.model.calls).length, calls)
      const again = yield* world.reprise("resume", runId)
      assert.strictEqual(again.code, 2, "nothing waits any more")
    })
  )

  it.live("under --auto waits for hours in place of ending, and goes on in the same session", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ ...limited(5 * 3_600), openCode: "shared" })
      const run = yield* world.start("run", "PLAN.md", "--auto")
      yield* run.waitFor(/model failed \(rate_limited\), and is asked again at/)
      assert.match((yield* world.reprise("status")).stdout, /Rate limited, again in (4 h|4:)/)
      assert.strictEqual((yield* world.reprise("resume")).code, 0)
      const { code, stderr } = yield* run.ended
      assert.strictEqual(code, 0, stderr)
      assert.notInclude(stderr, "Auto mode tries again")
      assert.strictEqual((yield* world.runs)[0]?.sessionsCreated, 2, "author and reviewer, each in one session")
    })
  )
})
