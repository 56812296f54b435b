/**
 * The tokens of the second review of a phase: in the reviewer's session, and in a new session with the full prompt, which
 * is told the lost conversation.
 * Repository, change and reviewer are the same; the reviewer reads the files that it has not read yet.
 */
import type { CallRecord } from "@reprise/scripted-model"
import { Effect } from "effect"
import { correct, on, once, plan, script } from "../harness/modelScript.ts"
import { deleteSession } from "../harness/openCodeUser.ts"
import { makeWorld } from "../harness/World.ts"

const source = Array.from({ length: 1_500 }, (_, n) => `export const value${n} = ${n} // one line of many`).join("\n")

const story = script(
  once({ role: "reviewer", kind: "report" }, correct("Say more")),
  on({ role: "reviewer", kind: "work" }, [{ bash: "cat source.ts" }, { text: "I have read it." }]),
  on({ role: "reviewer", kind: "follow-up" }, [{ bash: "git diff HEAD~1..HEAD" }, { text: "I have read the change." }]),
  on({ role: "author", kind: "work", lastUser: "Say more" }, [
    {
      hold: "before the fix",
      bash: "echo more >> more.txt && git add -A && git commit -q -m 'Say more' && git rev-parse HEAD"
    },
    { text: "Said." }
  ])
)

/** The model calls of the second review: its prompt and its report. */
const secondReview = Effect.fnUntraced(function* (inNewSession: boolean) {
  const world = yield* makeWorld({ plan: plan("One"), script: story, files: { "source.ts": source } })
  const run = yield* world.start("run", "PLAN.md")
  yield* world.model.awaitHeld("before the fix")
  const before = (yield* world.model.calls).length
  const reviewer = (yield* world.sessions).find(({ role }) => role === "reviewer")
  if (inNewSession) yield* deleteSession(world, reviewer?.runtimeSessionId ?? "")
  yield* world.model.release("before the fix")
  const { code, stderr } = yield* run.ended
  if (code !== 0) return yield* Effect.die(new Error(stderr))
  return (yield* world.model.calls).slice(before).filter(({ role }) => role === "reviewer")
}, Effect.scoped)

const sum = (calls: ReadonlyArray<CallRecord>, of: (usage: CallRecord["usage"]) => number) =>
  calls.reduce((total, { usage }) => total + of(usage), 0)

const costs = (calls: ReadonlyArray<CallRecord>) => ({
  calls: calls.length,
  sent: sum(calls, ({ inputTokens }) => inputTokens),
  fresh: sum(calls, ({ cachedTokens, inputTokens }) => inputTokens - cachedTokens)
})

const show = (name: string, { calls, fresh, sent }: ReturnType<typeof costs>) =>
  process.stdout.write(
    `${name}: ${fresh} new prompt tokens (${sent} with what the model's cache holds), ${calls} calls\n`
  )

export const reviewTokens = (): Promise<void> =>
  Effect.gen(function* () {
    const inNewSession = costs(yield* secondReview(true))
    const reused = costs(yield* secondReview(false))
    show("second review in a new session", inNewSession)
    show("second review in the reviewer's session", reused)
    process.stdout.write(
      `the reviewer's session sends ${(inNewSession.fresh / reused.fresh).toFixed(1)} times fewer new prompt tokens\n`
    )
    if (reused.fresh >= inNewSession.fresh) return yield* Effect.die(new Error("reuse saves nothing"))
  }).pipe(Effect.runPromise)
