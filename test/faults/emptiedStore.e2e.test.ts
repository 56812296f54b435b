// @module-tag long
/** Whoever worked on a run knows what was said, also when everything that OpenCode had is gone. */
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commits, correct, needsHuman, on, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

const story = script(
  once({ role: "reviewer", kind: "report" }, correct("Say more")),
  once({ role: "reviewer", kind: "work" }, { text: "The reviewer read everything once." }),
  once({ role: "author", kind: "report", lastUser: "Say more" }, needsHuman("Which words?")),
  once({ role: "author", kind: "work", lastUser: "Say more" }, { text: "The author looked for better words." }),
  on({ role: "author", lastUser: "An earlier session worked on this" }, commits("more.txt", "more"))
)

describe("a run that was killed while parked, and whose OpenCode lost everything", () => {
  it.live("goes on from the record: its author is told the conversation, and so is its reviewer", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), script: story })
      const parked = yield* world.atTerminal("run", "PLAN.md")
      yield* parked.waitFor(/answer> /)
      yield* waitForCommand(
        Effect.map(world.sessions, (all) =>
          all.length === 2 && all.every((one) => (one.savedAt ?? "") >= one.lastActivityAt) ? true : undefined
        )
      )
      yield* parked.kill("SIGKILL")
      const database = join(world.environment["XDG_DATA_HOME"] ?? "", "opencode")
      assert.isTrue(existsSync(database))
      rmSync(database, { recursive: true, force: true, maxRetries: 10 })
      const before = yield* world.model.calls

      const [asked = assert.fail("no question is open")] = yield* world.questions
      const answered = yield* world.reprise(
        "gate",
        "answer",
        asked.escalationId,
        "continue-session",
        "--guidance",
        "Long ones"
      )
      assert.strictEqual(answered.code, 0, answered.stderr)
      const done = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(done.code, 0, done.stdout + done.stderr)

      const after = (yield* world.model.calls).slice(before.length)
      const toldTo = (role: string) => after.find((call) => call.role === role && call.kind === "work")?.lastUser ?? ""
      for (const words of ["An earlier session", "better words", "phase-1.txt is written", "Long ones"]) {
        assert.include(toldTo("author"), words)
      }
      assert.include(toldTo("reviewer"), "read everything once")
      const events = yield* world.eventsOf(asked.runId)
      assert.deepStrictEqual(
        events.flatMap(({ role, type }) => (type === "SessionReplaced" ? [role] : [])),
        ["author", "reviewer"]
      )
      assert.deepStrictEqual(
        events.flatMap(({ sessionReused, type }) => (type === "ReviewStarted" ? [sessionReused] : [])),
        [false, false]
      )
    })
  )
})
