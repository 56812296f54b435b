// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { AgentRuntime } from "@reprise/agent"
import type { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import { awaitHeldBy } from "../harness/awaitHeldBy.ts"
import type { Command } from "../harness/Command.ts"
import { gateEvents } from "../harness/eventLines.ts"
import { commits, complete, humanRequired, needsHuman, on, once, plan, ready, script } from "../harness/modelScript.ts"
import { withAgentRuntime } from "../harness/openCodeUser.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitForCommand, waitUntil } from "../harness/waitUntil.ts"

const author = { role: "author", kind: "report" } as const
const quick = 'permissions = "all"\n[sessions]\nidleGraceMs = 1000\n'
const byHand = on({ role: "author", lastUser: "by hand" }, commits("hand.txt", "by hand"))

/** The newest session of the author, once the runtime has opened it. */
const authorIn = (world: World, phase: string) =>
  waitForCommand(
    Effect.map(world.sessions, (all) =>
      all.findLast((one) => one.role === "author" && one.phase === phase && one.runtimeSessionId !== undefined)
    )
  )

const statusIs = (world: World, status: string) =>
  waitForCommand(Effect.map(world.runs, ([run]) => run?.status === status || undefined))

/** Waits for the interface; the footer is drawn when it takes input. */
const attach = Effect.fnUntraced(function* (world: World, sessionId: string) {
  const tui = yield* world.onScreen("attach", sessionId)
  yield* tui.waitFor(/commands/)
  return tui
})

/** Types a prompt and sends it once it stands in the interface. */
const say = Effect.fnUntraced(function* (tui: Command, words: string) {
  tui.type(words)
  yield* tui.waitFor(new RegExp(words))
  tui.type("\r")
})

/** The interface closes by itself once its session has ended. */
const closes = Effect.fnUntraced(function* (tui: Command, { sessionId }: SessionView) {
  yield* tui.waitFor(new RegExp(`Session ${sessionId} has ended`))
  assert.strictEqual((yield* tui.ended).code, 0, tui.stdout.slice(-500))
})

const leave = Effect.fnUntraced(function* (tui: Command) {
  tui.type("\x03")
  assert.strictEqual((yield* tui.ended).code, 0, tui.stdout.slice(-500))
})

/** How many messages the session has at its runtime. */
const messagesOf = (world: World, { runtimeSessionId = "" }: SessionView) =>
  withAgentRuntime(
    world,
    Effect.map(
      AgentRuntime.use((runtime) => runtime.inspect(runtimeSessionId)),
      ({ messageCount }) => messageCount
    )
  )

const commitsOf = (world: World) => world.git("log", "--format=%s").split("\n")

describe("a human in OpenCode's own interface", () => {
  it.live("makes a parked run go on, also when another human leaves who hosted it, and at a reviewer's question", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        config: quick,
        script: script(
          once(author, needsHuman("Which way?")),
          once({ role: "reviewer", kind: "report" }, humanRequired),
          on({ role: "reviewer", kind: "report" }, ready),
          byHand,
          on({ role: "author", kind: "work", lastUser: "idle again" }, { text: "I am done." }),
          on(author, complete)
        )
      })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)
      const session = yield* authorIn(world, "1")
      const first = yield* attach(world, session.sessionId)
      const second = yield* attach(world, session.sessionId)
      yield* leave(first)
      yield* second.waitFor(/Opening session[\s\S]*Opening session[\s\S]*commands/)
      const up = yield* world.start("up")
      yield* up.waitFor(/[Aa]nother process|follows/)

      yield* say(second, "Do it by hand.")
      const question = yield* waitForCommand(
        Effect.map(world.questions, (all) => all.find(({ origin }) => origin === "reviewer"))
      )
      assert.include(commitsOf(world), "Write hand.txt")
      assert.strictEqual(question.evidence.authorSessionId, session.sessionId)

      yield* say(second, "Blue, by hand.")
      yield* statusIs(world, "completed")
      assert.strictEqual(commitsOf(world).filter((one) => one === "Write hand.txt").length, 2)
      const events = yield* world.eventsOf((yield* world.runs)[0]?.runId ?? "")
      assert.deepStrictEqual(gateEvents(events), [
        "1 EscalationRaised EXECUTE author",
        "1 EscalationWithdrawn EXECUTE agent-working",
        "1 EscalationRaised REVIEW reviewer",
        "1 EscalationWithdrawn REVIEW agent-working"
      ])
      yield* closes(second, session)
    })
  )

  it.live("counts as newer than a report that is under way, and makes a paused run go on when it is resumed", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One", "Two"),
        config: quick,
        script: script(
          once(author, {
            hold: { name: "reporting", afterChars: 5 },
            report: { result: "needs_human", reason: "Which way?" }
          }),
          once({ ...author, phase: "2" }, needsHuman("Which colour?")),
          byHand,
          on({ role: "author", kind: "work", lastUser: "idle again" }, { text: "I am done." }),
          on(author, complete)
        )
      })
      const run = yield* world.start("run", "PLAN.md")
      yield* awaitHeldBy(world, run, "reporting")
      const session = yield* authorIn(world, "1")
      const first = yield* attach(world, session.sessionId)
      yield* say(first, "Do it by hand.")
      yield* waitUntil(Effect.map(messagesOf(world, session), (count) => count === 4 || undefined))
      yield* world.model.release("reporting")

      assert.strictEqual((yield* run.ended).code, 4, "it is parked in the second phase")
      assert.strictEqual((yield* first.ended).code, 0, "its session has ended")
      const [open] = yield* world.questions
      assert.deepInclude(open, { phase: "2", reason: "Which colour?" })
      assert.include(commitsOf(world), "Write hand.txt")

      const { runId = "" } = (yield* world.runs)[0] ?? {}
      yield* world.reprise("pause", runId)
      const last = yield* authorIn(world, "2")
      const second = yield* attach(world, last.sessionId)
      yield* say(second, "Blue, by hand.")
      yield* waitForCommand(Effect.map(world.questions, (all) => (all.length === 0 ? true : undefined)))
      assert.strictEqual((yield* world.runs)[0]?.status, "paused")
      yield* world.reprise("resume", runId)
      yield* statusIs(world, "completed")
      yield* closes(second, last)
      assert.deepStrictEqual(gateEvents(yield* world.eventsOf(runId)), [
        "2 EscalationRaised EXECUTE author",
        "2 EscalationWithdrawn EXECUTE agent-working"
      ])
    })
  )

  it.live("is closed when its session ends, since nobody would count what is said there, and the run goes on", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One", "Two"),
        config: quick,
        script: script(
          once(author, needsHuman("Which way?")),
          once({ ...author, phase: "2" }, needsHuman("Which colour?"))
        )
      })
      const answer = Effect.fnUntraced(function* (reason: string) {
        const question = yield* waitForCommand(
          Effect.map(world.questions, (all) => all.find((one) => one.reason === reason))
        )
        assert.strictEqual((yield* world.reprise("gate", "answer", question.escalationId, "override")).code, 0)
      })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)
      const session = yield* authorIn(world, "1")
      const tui = yield* attach(world, session.sessionId)
      yield* answer("Which way?")
      yield* tui.waitFor(new RegExp(`Session ${session.sessionId} has ended[\\s\\S]*Which colour\\?`))
      yield* answer("Which colour?")
      assert.strictEqual((yield* tui.ended).code, 0, tui.stdout.slice(-500))
      assert.strictEqual((yield* world.runs)[0]?.status, "completed")
    })
  )
})
