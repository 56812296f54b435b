// @module-tag long
/** What a run has used adds up to what the model counted, however its turns ended. */
import { assert, describe, it } from "@effect/vitest"
import { type RunView, type SessionView, uncachedTokens } from "@reprise/protocol"
import { lacksAgent } from "@reprise/testing"
import { Effect } from "effect"
import { awaitHeldBy } from "../harness/awaitHeldBy.ts"
import { commits, on, once, plan, script } from "../harness/modelScript.ts"
import { sayInto } from "../harness/openCodeUser.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

/** The model is called a first time, and a second time, which a test releases. */
const heldAtSecondCall = script(
  once({ role: "author", kind: "work" }, [{ bash: "git rev-parse HEAD" }, { hold: "second", text: "Done." }])
)

const sum = (counts: ReadonlyArray<number>) => counts.reduce((all, count) => all + count, 0)

const inAll = ({ tokens }: Pick<SessionView, "tokens">): number => uncachedTokens(tokens) + tokens.cacheRead

const allTokens = ({ usage: { author, reviewer } }: RunView): number => inAll(author) + inAll(reviewer)

/** What the model counted for each call; titles and summaries belong to no turn. */
const counted = (world: World) =>
  Effect.map(world.model.calls, (calls) =>
    calls
      .filter(({ kind }) => kind !== "title" && kind !== "summary")
      .map(({ usage }) => usage.inputTokens + usage.outputTokens)
  )

const isOver = ({ status }: SessionView): boolean => status === "completed" || status === "aborted"

/**
 * The run, once all is told that its sessions have used. What one that has ended used is told with its archive, which a
 * program makes that does the work of the repository.
 */
const told = (world: World) =>
  waitForCommand(
    Effect.gen(function* () {
      const [run] = yield* world.runs
      if (run === undefined) return undefined
      const sessions = yield* world.sessions
      const archived = (yield* world.eventsOf(run.runId)).filter(({ type }) => type === "SessionArchived")
      const isTold =
        sessions.every(({ turnId }) => turnId === undefined) && archived.length === sessions.filter(isOver).length
      return isTold && allTokens(run) === sum(sessions.map(inAll)) ? run : undefined
    })
  )

/**
 * The run, once its program has ended and all is told. It adds up to within 1 %: no runtime tells what the last call used
 * if it was cut off.
 */
const thatAddsUp = Effect.fnUntraced(function* (world: World) {
  yield* world.start("up")
  const run = yield* told(world)
  const used = allTokens(run)
  const calls = yield* counted(world)
  const adds = (said: number) => said > 0 && Math.abs(used - said) <= said / 100
  assert.isTrue(adds(sum(calls)) || adds(sum(calls.slice(0, -1))), `${used} of ${calls.join(" + ")}`)
  return run
})

const quick = 'permissions = "all"\n[sessions]\nidleGraceMs = 1000\n'
const byHand = on({ role: "author", lastUser: "by hand" }, commits("hand.txt", "by hand"))
const idleAgain = on({ role: "author", kind: "work", lastUser: "idle again" }, { text: "I am done." })

/** The runtime's id of the author's session, once it is known. */
const authorIn = (world: World) =>
  waitForCommand(Effect.map(world.sessions, (all) => all.find(({ role }) => role === "author")?.runtimeSessionId))

/** The model was called with the words of the human, and the run's total is the model's own. */
const countsTheHuman = Effect.fnUntraced(function* (world: World) {
  const run = yield* told(world)
  assert.strictEqual(run.status, "completed")
  const theirs = (yield* world.model.calls).filter(({ lastUser }) => lastUser.includes("by hand"))
  assert.isAtLeast(theirs.length, 2)
  const calls = yield* counted(world)
  assert.strictEqual(allTokens(run), sum(calls), calls.join(" + "))
})

describe("what a human uses in a session", () => {
  it.live("is in the run's total when they speak in the middle of a turn", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        config: quick,
        script: script(byHand, idleAgain, ...heldAtSecondCall.rules)
      })
      const run = yield* world.start("run", "PLAN.md")
      yield* awaitHeldBy(world, run, "second")
      yield* sayInto(world, yield* authorIn(world), "Do it by hand.")
      yield* world.model.release("second")
      const { code, stderr } = yield* run.ended
      assert.strictEqual(code, 0, stderr)
      yield* world.start("up")
      yield* countsTheHuman(world)
    })
  )
})

for (const runtime of ["opencode", "claude"] as const)
  describe.skipIf(lacksAgent(runtime))(`what a run on ${runtime} has used`, () => {
    const config = (limits = "") => `permissions = "all"\nruntime = "${runtime}"\n[limits]\n${limits}\n`

    it.live("adds up to the model's own count after an abort in the middle of a turn", () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({
          openCode: "shared",
          config: config(),
          plan: plan("One"),
          script: heldAtSecondCall
        })
        const run = yield* world.start("run", "PLAN.md")
        yield* awaitHeldBy(world, run, "second")
        const id = (yield* world.runs)[0]?.runId ?? ""
        const aborted = yield* world.reprise("abort", id)
        assert.strictEqual(aborted.code, 0, aborted.stderr)
        yield* run.ended
        const view = yield* thatAddsUp(world)
        assert.strictEqual(view.status, "aborted")
        assert.strictEqual(
          view.usage.author.calls,
          runtime === "opencode" ? 2 : 1,
          "Claude tells no call that was cut off"
        )
      })
    )
  })
