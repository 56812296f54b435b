// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gateEvents } from "../harness/eventLines.ts"
import { commits, on, oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

/** Runs a plan with --auto. */
const unattended = Effect.fnUntraced(function* (world: World, name: string) {
  const ended = yield* world.reprise("run", name, "--auto", "--json")
  const run = (yield* world.runs).find(({ planPath }) => planPath === name) ?? assert.fail(`no run of ${name}`)
  return { code: ended.code, run, events: yield* world.eventsOf(run.runId) }
})

describe("a run without a human", () => {
  it.live("is aborted with every reason with --auto when gates still fail or the tree stays dirty", () =>
    Effect.gen(function* () {
      const limits = "[limits]\nmaxAutoRetries = 1\nmaxQualityRetries = 0\n"
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        files: { "DIRTY.md": plan("Dirty") },
        config: `permissions = "all"\n[gates]\nquality = ["test ! -e broken.txt"]\n${limits}`,
        script: script(
          on({ role: "author", kind: "work", firstUser: "DIRTY.md" }, [
            {
              bash: "date +%N >> kept.txt && git add kept.txt && git commit -q -m 'Keep it' && git rev-parse HEAD && date > left.txt"
            },
            { text: "Done." }
          ]),
          on({ role: "author", kind: "work" }, commits("broken.txt", "turn {{turn}}"))
        )
      })
      const broken = yield* unattended(world, "PLAN.md")
      assert.strictEqual(broken.code, 5)
      assert.match(
        broken.run.reason ?? "",
        /gave up after 1 retries: 1\. Quality gates still fail .* 2\. Quality gates still fail after 0 of 0 retries/
      )
      assert.deepStrictEqual(gateEvents(broken.events), [])

      world.git("rm", "--quiet", "broken.txt")
      world.git("commit", "--quiet", "--message", "Fix it")
      const dirty = yield* unattended(world, "DIRTY.md")
      assert.strictEqual(dirty.code, 5)
      assert.match(dirty.run.reason ?? "", /2\. Commit .* was rejected again \(dirty-tree\): .*left\.txt/)
      assert.deepStrictEqual(gateEvents(dirty.events), [])
    })
  )

  it.live("continues at its terminal when the answer comes from another process", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> /)
      const [question] = yield* world.questions
      const watcher = yield* world.start("watch", question?.runId ?? "", "--json")
      yield* watcher.waitFor(/"type":"EscalationRaised"/)
      const unread = yield* world.start("watch")
      yield* unread.waitFor(/Watching every run/)
      unread.stopReading()
      const parked = yield* world.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(parked.code, 4, "a follower without a terminal parks, and the run stays open")

      const answered = yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "Blue")
      assert.strictEqual(answered.code, 0, answered.stderr)
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      assert.match(ended.stdout, /Answered: continue-session by .* via cli/)
      assert.strictEqual((yield* unread.ended).code, 0, "a watch without a reader ends by itself")
      const watched = yield* watcher.ended
      assert.strictEqual(watched.code, 0, watched.stderr)
      assert.match(watched.stdout, /"type":"EscalationAnswered"[\s\S]*"type":"RunCompleted"/)
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.deepStrictEqual(
        authors.map(({ turns }) => turns),
        [2]
      )
    })
  )
})
