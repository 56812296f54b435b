/**
 * What a report at the end of the work saves: the same run with `sessions.report = "asked"`, where a second prompt asks for
 * the report of each turn, and with `"with-work"`. The model answers at once, so that the seconds are those of Reprise
 * and the runtime alone.
 */
import { addTokens, noTokens, type RuntimeName } from "@reprise/protocol"
import { Effect } from "effect"
import { correct, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

/** Two phases, the second with a finding that is fixed: three turns of authors, three reviews. */
const story = script(once({ role: "reviewer", kind: "report", phase: 2 }, correct("Say more")))

const measured = Effect.fnUntraced(function* (runtime: RuntimeName, report: "asked" | "with-work") {
  const config = `permissions = "all"\nruntime = "${runtime}"\n[sessions]\nreport = "${report}"\n`
  const world = yield* makeWorld({ plan: plan("One", "Two"), script: story, config })
  const started = performance.now()
  const { code, stderr } = yield* world.reprise("run", "PLAN.md")
  const seconds = (performance.now() - started) / 1000
  if (code !== 0) return yield* Effect.die(new Error(stderr))
  const calls = (yield* world.model.calls).filter(({ role }) => role === "author" || role === "reviewer")
  const [run] = yield* world.runs
  const { author, reviewer } = run?.usage ?? (yield* Effect.die(new Error("there is no run")))
  const { cacheRead, input, output } = addTokens(addTokens(noTokens, author.tokens), reviewer.tokens)
  const turns = author.turns + reviewer.turns
  return { calls: calls.length, turns, tokens: input + output + cacheRead, fresh: input + output, seconds }
}, Effect.scoped)

type Measured = Effect.Success<ReturnType<typeof measured>>

const perTurn = (figure: number, { turns }: Measured) => (figure / turns).toFixed(1)

const show = (name: string, one: Measured) =>
  process.stdout.write(
    `${name}: ${perTurn(one.calls, one)} calls, ${perTurn(one.tokens, one)} tokens (${perTurn(one.fresh, one)} that no cache served) and ${perTurn(one.seconds, one)} s for each of ${one.turns} turns\n`
  )

export const report = (): Promise<void> =>
  Effect.forEach(["opencode", "claude"] as const, (runtime) =>
    Effect.gen(function* () {
      const asked = yield* measured(runtime, "asked")
      const withWork = yield* measured(runtime, "with-work")
      show(`${runtime}, asked for the report`, asked)
      show(`${runtime}, report with the work`, withWork)
      const saved = (figure: keyof Measured) => `${Math.round((1 - withWork[figure] / asked[figure]) * 100)} %`
      process.stdout.write(
        `${runtime}: saves ${saved("calls")} of the calls, ${saved("tokens")} of the tokens, ${saved("seconds")} of the time\n`
      )
      if (withWork.calls >= asked.calls) return yield* Effect.die(new Error("no call is saved"))
    })
  ).pipe(Effect.asVoid, Effect.runPromise)
