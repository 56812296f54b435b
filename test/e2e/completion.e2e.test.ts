// @module-tag long
/** The completion scripts in real shells: ids with what they are, and plans. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Predicate } from "effect"
import { plan, twoQuestions } from "../harness/modelScript.ts"
import { answers, parks } from "../harness/parkedRun.ts"
import { lacks, shellIn } from "../harness/Shell.ts"
import { makeWorld } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

/** A parked run, and files beside its plan. */
const parkedWorld = Effect.gen(function* () {
  const files = { ...twoQuestions.files, "notes/later.md": plan("Later"), "notes/other.txt": "" }
  const world = yield* makeWorld({ ...twoQuestions, files })
  const { escalationId, runId } = yield* parks(world)
  const [session] = yield* world.sessions
  return { world, escalationId, runId, sessionId: session?.sessionId ?? assert.fail("no session") }
})

/** Clears the line that was typed. */
const clear = "\x15"

for (const name of ["bash", "zsh", "fish"] as const) {
  describe.skipIf(lacks(name))(`completion in ${name}`, () => {
    it.live("offers ids, with what they are where the shell shows it, and plans", () =>
      Effect.gen(function* () {
        const { escalationId, runId, sessionId, world } = yield* parkedWorld
        const { sees, type } = yield* shellIn(world, name)
        // Completion offers nothing when it takes too long, and a human presses the key again.
        const offers = (typed: string, shown: RegExp) =>
          Effect.gen(function* () {
            type(`${typed}\t`)
            const seen = yield* Effect.timeoutOption(sees(shown), "10 seconds")
            type(clear)
            return Option.getOrUndefined(seen)
          }).pipe(Effect.repeat({ while: Predicate.isUndefined }))
        const completes = (typed: string, shown: string) => offers(typed, new RegExp(`^ready> ${shown}`, "m"))

        // While nothing runs.
        yield* completes("reprise resume r", `reprise resume ${runId}`)
        yield* completes("reprise gate answer r", `reprise gate answer ${escalationId}`)
        yield* completes(`reprise sessions show ${sessionId.slice(0, -2)}`, `reprise sessions show ${sessionId}`)
        yield* completes("reprise run PL", "reprise run PLAN\\.md")
        yield* completes("reprise validate no\t", "reprise validate notes/later\\.md")
        assert.isFalse(existsSync(join(world.root, ".reprise", "endpoint.json")), "nothing was started")

        // One of several.
        assert.strictEqual((yield* world.reprise("run", "OTHER.md", "--worktree")).code, 4)
        const other = (yield* world.runs).find(({ planPath }) => planPath === "OTHER.md")?.runId ?? ""
        const both = new RegExp(`${other}[\\s\\S]*${runId}|${runId}[\\s\\S]*${other}`)
        const offered = yield* offers("reprise pause r\t", both)
        if (name !== "bash") assert.match(offered ?? "", /OTHER\.md, waiting, phase 1/)

        // Whoever runs the broker is asked.
        const up = yield* world.start("up")
        yield* up.waitFor(/Ctrl-C/)
        yield* answers(world, escalationId, "fix", "Blue")
        yield* waitForCommand(
          Effect.map(world.runs, (runs) => runs.find((run) => run.runId === runId)?.status === "completed" || undefined)
        )
        yield* completes("reprise resume r", `reprise resume ${other}`)
      })
    )
  })
}

describe("what the completion scripts ask", () => {
  it.live("is answered with nothing, quietly, where nobody knows anything", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(twoQuestions)
      const silent = { code: 0, stdout: "", stderr: "" }
      assert.deepStrictEqual(yield* world.reprise("complete", "runs"), silent)
      assert.isFalse(existsSync(join(world.root, ".reprise", "nats")))
      assert.deepStrictEqual(yield* world.repriseIn({ directory: "/" }, "complete", "questions"), silent)
      writeFileSync(join(world.root, "reprise.toml"), "permissions = [")
      assert.deepStrictEqual(yield* world.reprise("complete", "sessions"), silent)
      mkdirSync(join(world.root, ".reprise", "nats", "jetstream"), { recursive: true })
      assert.deepStrictEqual(yield* world.reprise("complete", "open-runs"), silent, "a state of somebody else")
    })
  )
})
