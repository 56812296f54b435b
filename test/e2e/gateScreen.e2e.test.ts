// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { watchScreen } from "../harness/Screen.ts"
import { makeWorld } from "../harness/World.ts"

const author = { role: "author", kind: "report" } as const
const size = { columns: 100, rows: 30 }

/** A run at a terminal of this size, whose author asks while the model is held. */
const askingRun = Effect.gen(function* () {
  const world = yield* makeWorld({
    openCode: "shared",
    plan: plan("One"),
    script: script(once(author, { hold: "working", report: { result: "needs_human", reason: "Which colour?" } }))
  })
  const run = yield* world.startIn({ input: size }, "run", "PLAN.md")
  yield* world.model.awaitHeld("working")
  return { world, run, screen: yield* watchScreen(run, size) }
})

describe("the full-screen gate of a run", () => {
  it.live("is not answered by what was typed before, asks before an abort, and undoes it", () =>
    Effect.gen(function* () {
      const { run, screen, world } = yield* askingRun
      run.type("q\ny")
      yield* run.waitFor(/q\r?\ny/)
      yield* world.model.release("working")
      // Its echo moved the cursor, and the picture still begins in the first column.
      yield* screen.until(/^Your answer[\s\S]*Which colour\?[\s\S]*What you typed before this was shown is ignored/)

      run.type("q")
      yield* screen.until(/abort \(stop execution\) Are you sure\?\nNo agent is told anything: the run ends\./)
      // At once, as it is sent after five seconds, however slow the machine is.
      run.type("yu")
      yield* screen.until(/Undone; the question stays open\./)

      run.type("f")
      yield* screen.until(/The agent will be told: its task again/)
      run.type("Blue")
      run.type("\x1b[200~,\nor green,\nnever red\x1b[201~")
      yield* screen.until(/never red\nThe agent will be told: Blue,\n/)
      run.type("\r")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      const asked = (yield* world.model.calls).map(({ lastUser }) => lastUser)
      assert.isTrue(asked.some((text) => text.includes("Blue,\nor green,\nnever red")))
      const last = yield* screen.until(/Run completed/)
      assert.notInclude(last, "Your answer is needed", "the screen of before is back")
    })
  )

  it.live("leaves the question open on Ctrl-C, gives back what was not sent, and tells who was first", () =>
    Effect.gen(function* () {
      const { run, screen, world } = yield* askingRun
      yield* world.model.release("working")
      yield* screen.until(/Which colour\?[\s\S]*Ctrl-C leave/)
      run.type("f")
      yield* screen.until(/Enter send/)
      run.type("Blue")
      yield* screen.until(/> Blue/)
      run.type("\x03")
      assert.strictEqual((yield* run.ended).code, 130, run.stdout)
      yield* screen.until(/What you wrote was not sent:\n {2}\| Blue\n[\s\S]*the question stays open/)

      const again = yield* world.startIn({ input: size }, "run", "PLAN.md")
      const seen = yield* watchScreen(again, size)
      yield* seen.until(/Which colour\?[\s\S]*Ctrl-C leave/)
      again.type("f")
      yield* seen.until(/Enter send/)
      again.type("Green")
      yield* seen.until(/> Green/)
      const [question] = yield* world.questions
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "fix")
      assert.strictEqual((yield* again.ended).code, 0, again.stdout)
      assert.match(again.stdout, /Answered: fix by .* via cli/)
      assert.match(again.stdout, /What you wrote was not sent:\r\n {2}\| Green/)
    })
  )
})

describe("the full-screen gate below the lines of `up` and `watch`", () => {
  const report = { role: "author", kind: "report" } as const
  const isOffered = /g = answer the open question$/
  const isAsked = /Your answer is needed[\s\S]*Ctrl-C leave/

  it.live("is opened by a key while a question is open, and gives the terminal back to the lines", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once(report, needsHuman("Which colour?")), once(report, needsHuman("Which size?")))
      })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 4)
      const up = yield* world.startIn({ input: size }, "up")
      const screen = yield* watchScreen(up, size)
      yield* screen.until(isOffered)
      up.type("q, pasted with g\n")
      assert.strictEqual((yield* world.questions).length, 1)
      up.type("g")
      yield* screen.until(isAsked)
      up.type("\x03")
      yield* screen.until(isOffered)
      assert.strictEqual((yield* world.questions).length, 1, "nothing but the gate answers")

      up.type("g")
      yield* screen.until(isAsked)
      up.type("f")
      yield* screen.until(/Enter send/)
      up.type("Blue\r")
      yield* screen.until(/Answered: fix by .* via terminal[\s\S]*Which size\?[\s\S]*g = answer the open question$/)

      const watch = yield* world.startIn({ input: size }, "watch")
      const watched = yield* watchScreen(watch, size)
      yield* watched.until(isOffered)
      watch.type("g")
      yield* watched.until(/Which size\?[\s\S]*Ctrl-C leave/)
      watch.type("f")
      yield* watched.until(/Enter send/)
      watch.type("\r")
      assert.notMatch(yield* watched.until(/Run completed/), isOffered)
      yield* screen.until(/Run completed/)
      watch.type("\x03")
      assert.strictEqual((yield* watch.ended).code, 130, watch.stdout)
      up.type("\x03")
      assert.strictEqual((yield* up.ended).code, 130, up.stdout)
    })
  )
})
