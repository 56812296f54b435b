// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import type { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import type { Command } from "../harness/Command.ts"
import { gateEvents } from "../harness/eventLines.ts"
import { commits, complete, humanRequired, needsHuman, on, once, plan, ready, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

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
