/** How long steps take: from entries of a journal, and wherever they are decided. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type StepBegun, stepAfter } from "../src/metrics/stepTimes.ts"
import type { CounterInput } from "./support/Counter.ts"
import { counted } from "./support/counted.ts"
import { key, metaOf, running, story } from "./support/oneRuntime.ts"

const at = (second: number) => new Date(second * 1_000).toISOString()
const event = (type: string, payload: object = {}) => ({ subject: "x", type, payload })
const begins = (step: string) => event("StepStarted", { runId: "r1", step, attempt: 1 })
const execute: StepBegun = { name: "EXECUTE", since: at(10) }

describe("the length of a step", () => {
  it.each([
    ["is not told of a step that begins", undefined, [begins("EXECUTE")], execute, []],
    ["goes to the next step", execute, [begins("REVIEW")], { name: "REVIEW", since: at(10) }, ["EXECUTE 0"]],
    [
      "goes to the end of its phase",
      { ...execute, since: at(6.5) },
      [event("PhaseCompleted")],
      undefined,
      ["EXECUTE 3.5"]
    ],
    ["goes to the end of its run", { ...execute, since: at(1) }, [event("RunAborted")], undefined, ["EXECUTE 9"]],
    ["goes on with what else is sent", execute, [event("StepWaiting"), event("StartTurn")], execute, []],
    ["is none after the end", undefined, [event("RunCompleted")], undefined, []],
    [
      "is not below 0 when a clock is set back",
      { ...execute, since: at(99) },
      [event("RunFailed")],
      undefined,
      ["EXECUTE 0"]
    ],
    ["is not told of a step that nobody knows", execute, [begins("DANCE")], undefined, ["EXECUTE 0"]],
    [
      "is told of each step that ends in one decision",
      { ...execute, since: at(8) },
      [begins("PHASE_COMPLETE"), event("PhaseCompleted"), begins("EXECUTE")],
      execute,
      ["EXECUTE 2", "PHASE_COMPLETE 0"]
    ]
  ] as const)("%s", (_, before, outgoing, step, ended) => {
    const found = stepAfter(before, { at: at(10), outgoing })
    assert.deepStrictEqual<unknown>(found.step, step)
    assert.deepStrictEqual<unknown>(
      found.ended.map(({ labels, value }) => `${labels["step"]} ${value}`),
      ended
    )
  })

  const add: CounterInput = { _tag: "Add", n: 1 }
  const measured = () => counted("reprise_step_seconds").get("step=EXECUTE") ?? [0, 0]

  it.effect.each([
    ["its journal", 1_000],
    ["a snapshot", 1]
  ] as const)("is measured once where it ends, in a process that knows its begin from %s", ([, snapshotEvery]) =>
    story(
      Effect.gen(function* () {
        const before = measured()
        // To the millisecond: in one process, sums of other tests leave a remainder.
        const told = () => measured().map((value, n) => Math.round((value - (before[n] ?? 0)) * 1_000) / 1_000)
        const one = yield* running(undefined, undefined, { snapshotEvery })
        yield* one.handle(add)
        yield* one.runtime.memory.snapshotIfDue(key)
        assert.deepStrictEqual(told(), [0, 0])
        yield* TestClock.adjust("10 hours")
        const two = yield* running(undefined, undefined, { snapshotEvery }, "two")
        yield* two.handle(add, { meta: metaOf("m2") })
        assert.deepStrictEqual(told(), [1, 36_000])
        yield* one.runtime.memory.catchUp(key, (yield* one.runtime.memory.load(key)).loaded)
        const three = yield* running(undefined, undefined, undefined, "three")
        yield* three.handle(add, { meta: metaOf("m2"), redelivered: true })
        assert.deepStrictEqual(told(), [1, 36_000])
      })
    )
  )
})
