import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once, plan, script } from "../harness/modelScript.ts"
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
      yield* screen.until(/Which colour\?[\s\S]*What you typed before this was shown is ignored/)

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

  it.live("sends an abort when nobody undoes it", () =>
    Effect.gen(function* () {
      const { run, screen, world } = yield* askingRun
      yield* world.model.release("working")
      yield* screen.until(/Which colour\?[\s\S]*Ctrl-C leave/)
      run.type("q")
      yield* screen.until(/Are you sure\?/)
      run.type("y")
      assert.strictEqual((yield* run.ended).code, 5, run.stdout)
      assert.match(run.stdout, /Will be sent in \d s\. u = undo/)
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
