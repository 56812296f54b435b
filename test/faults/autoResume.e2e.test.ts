// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { gateEvents } from "../harness/eventLines.ts"
import { commits, complete, humanRequired, needsHuman, on, once, plan, ready, script } from "../harness/modelScript.ts"
import { typeInto } from "../harness/openCodeUser.ts"
import { makeWorld, type PublicLine, type World } from "../harness/World.ts"

const quick = "[sessions]\nidleGraceMs = 300\n"
const question = once({ role: "author", kind: "report" }, needsHuman("Which way?"))
const byHand = { role: "author", lastUser: "by hand" } as const

const authorOf = (world: World) =>
  Effect.map(world.sessions, (all) => all.find(({ role }) => role === "author")?.runtimeSessionId ?? "")

/** The run's steps and who caused its author's activity, as lines: `StepResumed agent-working`. */
const stepsAndActivity = (events: ReadonlyArray<PublicLine>) =>
  events
    .filter(({ role, type }) => /^(AgentWorking|AgentIdle|StepWaiting|StepResumed)$/.test(type) && role !== "reviewer")
    .map(({ cause, type }) => (cause === undefined ? type : `${type} ${cause}`))

/** The prompts of the author's session, oldest first, by the kind that the model recognised. */
const prompts = (world: World, runtimeSessionId: string) =>
  Effect.map(world.model.calls, (calls) => [
    ...new Map(
      calls.filter(({ session }) => session === runtimeSessionId).map((call) => [call.turn, call.kind])
    ).values()
  ])

describe("a human who prompts the session of a waiting step", () => {
  it.live("resumes the run: the question is withdrawn, and the agent is asked for its report when it is idle", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        config: `permissions = "all"\n${quick}`,
        script: script(
          question,
          on(byHand, [
            {
              hold: { name: "by hand", afterChars: 5 },
              text: "I do it by hand.",
              bash: "echo by hand > hand.txt && git add -A && git commit -q -m 'Write it by hand' && git rev-parse HEAD"
            },
            { text: "It is done." }
          ]),
          on({ role: "author", kind: "work", lastUser: "idle again" }, { text: "I am done." })
        )
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> /)
      const session = yield* authorOf(world)
      const typed = yield* Effect.forkChild(typeInto(world, session, "Do it by hand."))
      yield* world.model.awaitHeld("by hand")
      yield* run.waitFor(/Question closed/)
      assert.deepStrictEqual(yield* world.questions, [])
      assert.strictEqual((yield* world.runs)[0]?.status, "running")
      yield* world.model.release("by hand")
      yield* Fiber.join(typed)
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)

      const events = yield* world.eventsOf((yield* world.runs)[0]?.runId ?? "")
      assert.deepStrictEqual(stepsAndActivity(events), [
        "AgentWorking turn",
        "StepWaiting",
        "AgentWorking human",
        "StepResumed agent-working",
        "AgentIdle",
        "AgentWorking turn"
      ])
      assert.deepStrictEqual(gateEvents(events), [
        "1 EscalationRaised EXECUTE author",
        "1 EscalationWithdrawn EXECUTE agent-working"
      ])
      assert.deepStrictEqual(yield* prompts(world, session), ["work", "work", "work"])
      assert.include(world.git("log", "--format=%s"), "Write it by hand")
    })
  )

  it.live("makes the reviewer who asked judge again when the prompt is in the reviewer's own session", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        config: `permissions = "all"\n${quick}`,
        script: script(
          once({ role: "reviewer", kind: "report" }, humanRequired),
          on({ role: "reviewer", lastUser: "by hand" }, { text: "I see." }),
          on({ role: "reviewer", kind: "report" }, ready)
        )
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/The reviewer's session [\s\S]*answer> /)
      const [question] = yield* world.questions
      const reviewer = (yield* world.sessions).find(({ role }) => role === "reviewer")
      assert.strictEqual(question?.evidence.sessionId, reviewer?.sessionId)
      assert.isDefined(question?.evidence.idleSince)
      yield* typeInto(world, reviewer?.runtimeSessionId ?? "", "R1 is decided by hand.")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      const events = yield* world.eventsOf((yield* world.runs)[0]?.runId ?? "")
      assert.deepStrictEqual(gateEvents(events), [
        "1 EscalationRaised REVIEW reviewer",
        "1 EscalationWithdrawn REVIEW agent-working"
      ])
      assert.strictEqual((yield* world.sessions).filter(({ role }) => role === "reviewer").length, 1)
    })
  )

  it.live("resumes the run when it was done while nothing ran, also without a terminal", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        config: `permissions = "all"\n${quick}`,
        script: script(
          question,
          on(byHand, commits("hand.txt", "by hand")),
          on({ role: "author", kind: "work", lastUser: "idle again" }, { text: "I am done." })
        )
      })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4, "nobody has worked in its session")
      yield* typeInto(world, yield* authorOf(world), "Do it by hand.")
      const again = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(again.code, 0, again.stderr)
      const events = yield* world.eventsOf((yield* world.runs)[0]?.runId ?? "")
      assert.deepStrictEqual(gateEvents(events), [
        "1 EscalationRaised EXECUTE author",
        "1 EscalationWithdrawn EXECUTE agent-working"
      ])
    })
  )

  it.live("resumes the run even after all processes were killed, and the agent's next question is a new one", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        config: quick,
        script: script(
          question,
          once({ role: "author", kind: "work", lastUser: "You are the author" }, { text: "There are two ways." }),
          on(byHand, commits("hand.txt", "by hand")),
          on({ role: "author", kind: "work", lastUser: "idle again" }, { text: "I am done." }),
          on({ role: "author", kind: "report" }, complete)
        )
      })
      const first = yield* world.atTerminal("run", "PLAN.md")
      yield* first.waitFor(/answer> /)
      const session = yield* authorOf(world)
      yield* first.kill("SIGKILL")

      const again = yield* world.atTerminal("run", "PLAN.md")
      yield* again.waitFor(/answer> /)
      const typed = yield* Effect.forkChild(typeInto(world, session, "Do it by hand."))
      yield* again.waitFor(/Question closed[\s\S]*answer> /)
      assert.strictEqual((yield* world.runs)[0]?.status, "waiting")
      const open = yield* world.questions
      assert.deepStrictEqual(
        open.map(({ origin }) => origin),
        ["permission"]
      )
      const answered = yield* world.reprise("gate", "answer", open[0]?.escalationId ?? "", "always")
      assert.strictEqual(answered.code, 0, answered.stderr)
      yield* Fiber.join(typed)
      const ended = yield* again.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      const events = yield* world.eventsOf((yield* world.runs)[0]?.runId ?? "")
      assert.deepStrictEqual(stepsAndActivity(events), [
        "AgentWorking turn",
        "StepWaiting",
        "AgentWorking human",
        "StepResumed agent-working",
        "StepWaiting",
        "StepResumed answer",
        "AgentIdle",
        "AgentWorking turn"
      ])
      assert.deepStrictEqual(gateEvents(events), [
        "1 EscalationRaised EXECUTE author",
        "1 EscalationWithdrawn EXECUTE agent-working",
        "1 EscalationRaised EXECUTE permission",
        "1 EscalationAnswered EXECUTE always"
      ])
      assert.deepStrictEqual(yield* prompts(world, session), ["work", "work", "work"])
    })
  )
})
