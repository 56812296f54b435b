// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gateEvents, runEvents } from "../harness/eventLines.ts"
import { commits, needsHuman, on, once, oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const hopeless = { role: "author", kind: "report", firstUser: "HOPELESS.md" } as const

/** Runs a plan with --auto. */
const unattended = Effect.fnUntraced(function* (world: World, name: string) {
  const ended = yield* world.reprise("run", name, "--auto", "--json")
  const run = (yield* world.runs).find(({ planPath }) => planPath === name) ?? assert.fail(`no run of ${name}`)
  return { code: ended.code, run, events: yield* world.eventsOf(run.runId) }
})

describe("a run without a human", () => {
  it.live("never waits with --auto: it retries and completes, or is aborted with every reason", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        files: { "HOPELESS.md": plan("None") },
        config: 'permissions = "all"\n[limits]\nmaxAutoRetries = 2\n',
        script: script(
          once(hopeless, needsHuman("I have no idea")),
          once(hopeless, needsHuman("I still have none")),
          on(hopeless, needsHuman("I never shall")),
          once({ role: "author", kind: "report" }, needsHuman("Which colour?"))
        )
      })
      const done = yield* world.reprise("run", "PLAN.md", "--auto")
      assert.strictEqual(done.code, 0, done.stderr)
      const aborted = yield* world.reprise("run", "HOPELESS.md", "--auto", "--json")
      assert.strictEqual(aborted.code, 5, aborted.stderr)

      const runs = yield* world.runs
      const first = runs.find(({ planPath }) => planPath === "PLAN.md")
      const second = runs.find(({ planPath }) => planPath === "HOPELESS.md")
      assert.deepStrictEqual([first?.status, second?.status], ["completed", "aborted"])
      assert.deepStrictEqual(first?.notices, ["Auto mode tries again: Which colour?"])
      const gaveUp = "Auto mode gave up after 2 retries: 1. I have no idea 2. I still have none 3. I never shall"
      assert.strictEqual(second?.reason, gaveUp)
      assert.include(aborted.stdout, gaveUp)

      const events = yield* world.eventsOf(first?.runId ?? "")
      assert.deepStrictEqual(gateEvents(events), [])
      assert.deepStrictEqual(runEvents(events).slice(2, 6), [
        "1 PhaseStarted",
        "1 StepStarted EXECUTE phase-started 1",
        "1 StepStarted EXECUTE auto-retry 2",
        "1 StepStarted REVIEW work-verified 1"
      ])
      const story = yield* world.eventsOf(second?.runId ?? "")
      assert.deepStrictEqual(gateEvents(story), [])
      assert.strictEqual(runEvents(story).at(-1), `1 RunAborted EXECUTE ${gaveUp}`)
      assert.strictEqual(story.filter(({ type }) => type === "SessionCreated").length, 3)
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )

  it.live("retries instead of asking with --auto, but parks at a checkpoint where a human must act", () =>
    Effect.gen(function* () {
      const checkpoint = { task: "1-T1", type: "human-action", description: "Buy a domain.", requiredAction: "Buy it" }
      const items = [
        { id: "H1", title: "Which way?", action: "human_required", reason: "both are fine", priority: "P1" }
      ]
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        files: { "ACTION.md": plan("Action") },
        script: script(
          once(
            { role: "author", kind: "report", firstUser: "ACTION.md" },
            { report: { result: "checkpoint", checkpoint } }
          ),
          once({ role: "reviewer", kind: "report" }, { report: { readiness: "not_ready", items } })
        )
      })
      const human = yield* unattended(world, "PLAN.md")
      assert.strictEqual(human.code, 0)
      assert.deepStrictEqual(gateEvents(human.events), [])
      assert.include(runEvents(human.events), "1 StepStarted AUTO_FIX auto-retry 1")
      assert.deepStrictEqual(human.run.notices, [
        "Auto mode tries again: The review needs a human for H1 (Which way?)."
      ])

      const action = yield* unattended(world, "ACTION.md")
      assert.strictEqual(action.code, 4, "parked, not hanging")
      assert.strictEqual(action.run.reason, "Buy a domain.")
      const [asked] = yield* world.questions
      assert.strictEqual((yield* world.reprise("gate", "answer", asked?.escalationId ?? "", "done")).code, 0)
      assert.strictEqual((yield* unattended(world, "ACTION.md")).code, 0)
    })
  )

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
