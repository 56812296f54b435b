// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { freeze } from "@reprise/process/testing"
import { Broker, localBroker } from "@reprise/testing"
import { Effect } from "effect"
import { heldInMidTurn, needsHuman, on, oneQuestion, plan, script, twoQuestions } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const report = { role: "author", kind: "report" } as const

describe("reprise up", () => {
  it.live("continues parked runs when they are answered, and parks them when it is stopped", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(twoQuestions)
      const first = yield* world.start("up")
      yield* first.waitFor(/Serving .*\n.*No open run/)
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [colour] = yield* world.questions
      yield* world.reprise("gate", "answer", colour?.escalationId ?? "", "c", "--guidance", "Blue")
      yield* first.waitFor(/Run completed/)

      const second = yield* world.reprise("run", "OTHER.md")
      assert.strictEqual(second.code, 4, second.stderr)
      const stopped = yield* first.kill("SIGINT")
      assert.strictEqual(stopped.code, 130, stopped.stderr)
      const [size] = yield* world.questions
      assert.strictEqual(size?.reason, "Which size?", "the question outlives the process")

      const again = yield* world.start("up", "--json")
      yield* world.reprise("gate", "answer", size?.escalationId ?? "", "fix")
      yield* again.waitFor(/"type":"RunCompleted"/)
      const runs = yield* world.runs
      assert.deepStrictEqual(
        runs.map(({ status }) => status),
        ["completed", "completed"]
      )
      for (const line of again.stdout.trim().split("\n")) assert.property(JSON.parse(line), "runId")
      const terminated = yield* again.kill("SIGTERM")
      assert.strictEqual(terminated.code, 143, terminated.stderr)
      // It says that it is stopping only where that takes a while.
      assert.match(terminated.stderr, /^(Stopping; .*\n)?$/)
      assert.deepStrictEqual(yield* world.model.unmatched, [])
    })
  )

  it.live("names the waiting runs, and applies answers that were given while nothing ran", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)
      const [question] = yield* world.questions
      const looking = yield* world.start("up")
      yield* looking.waitFor(new RegExp(`PLAN.md: waiting \\(phase 1, author's work\\).*${question?.escalationId}`))
      yield* looking.kill("SIGTERM")
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c")
      const up = yield* world.start("up")
      yield* up.waitFor(/Run completed/)
    })
  )

  it.live(
    "follows a run in another process, and takes it over when that process is killed, whoever owns the broker",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          plan: plan("One"),
          script: heldInMidTurn
        })
        const watch = yield* world.start("watch")
        yield* watch.waitFor(/Watching every run/)
        const run = yield* world.start("run", "PLAN.md")
        yield* world.model.awaitHeld("mid-turn")
        const up = yield* world.start("up")
        yield* up.waitFor(/Another Reprise process serves/)
        const asked = (yield* world.model.calls).length
        yield* run.kill("SIGKILL")
        yield* up.waitFor(/continuing here/)
        yield* world.model.awaitCall(({ sequence }) => sequence > asked)
        yield* world.model.release("mid-turn")
        yield* up.waitFor(/Run completed/)
        yield* watch.waitFor(/Run completed/)
      })
  )

  it.live("is followed by `reprise run`, which starts no second run when everything ended while it was frozen", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: heldInMidTurn
      })
      const up = yield* world.start("up")
      yield* up.waitFor(/Serving/)
      const run = yield* world.start("run", "PLAN.md")
      yield* run.waitFor(/Author starts session/)
      yield* world.model.awaitHeld("mid-turn")
      yield* freeze(run.pid)
      yield* world.model.release("mid-turn")
      yield* up.waitFor(/Run completed/)
      yield* up.kill("SIGKILL")
      process.kill(run.pid, "SIGCONT")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.strictEqual((yield* world.runs).length, 1)
    })
  )

  it.live("does all the work on the server given with --nats", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(on(report, needsHuman("Which colour?")))
      })
      const { url } = yield* Broker
      const up = yield* world.start("up", "--nats", url)
      yield* up.waitFor(/Serving .* through nats:/)
      const run = yield* world.reprise("run", "PLAN.md", "--nats", url)
      assert.strictEqual(run.code, 4, run.stderr)
      const list = yield* world.reprise("gate", "list", "--json", "--nats", url)
      const id = /"escalationId":"([^"]+)"/.exec(list.stdout)?.[1] ?? ""
      const answered = yield* world.reprise("gate", "answer", id, "override", "--nats", url)
      assert.strictEqual(answered.code, 0, answered.stderr)
      yield* up.waitFor(/Run completed/)
    }).pipe(Effect.provide(localBroker))
  )
})
