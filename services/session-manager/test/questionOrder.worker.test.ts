/** The order in which an agent's questions are reported, with a runtime whose events and answers come late. */
import { assert, describe, it } from "@effect/vitest"
import { AgentRuntime, type PendingPrompt, type RuntimeEvent } from "@reprise/agent"
import { noUsage, RunId, SessionId, TurnId } from "@reprise/protocol"
import { Duration, Effect, Queue, Stream } from "effect"
import type { SessionReport } from "../src/session/inputs.ts"
import type { WorkOf } from "../src/session/work.ts"
import { watchPrompt } from "../src/work/watchPrompt.ts"
import { surroundings } from "./support/stage.ts"

const question = (promptId: string): PendingPrompt => ({
  ...{ sessionId: "ses_1", promptId, kind: "question", text: "Which?", options: [], questions: [] }
})

const work: WorkOf<"RunPrompt"> = {
  ...{ _tag: "RunPrompt", turnId: TurnId.make("t1"), number: 1, kind: "work", text: "Work.", role: "author" },
  ...{ runtime: "opencode", directory: "/repo", runtimeSessionId: "ses_1", runId: RunId.make("r1") },
  identity: { messageId: "msg_1", partId: "prt_1" },
  permissions: "ask",
  // The runtime is asked every 20 ms.
  limits: { inactivityMs: 80 },
  usedBefore: noUsage,
  counted: noUsage,
  saving: { object: "session/s1/ses_1", since: new Date(0).toISOString() },
  turnStartedAt: new Date(0).toISOString(),
  turnWaitedMs: 0
}

/** A watch over a prompt, what it reports, and what its runtime tells. */
const watching = Effect.gen(function* () {
  const memory = yield* AgentRuntime
  const events = yield* Queue.unbounded<RuntimeEvent>()
  const told: Array<readonly [string, ReadonlyArray<string>]> = []
  const answers = { pending: Effect.succeed<ReadonlyArray<PendingPrompt>>([]), looks: 0 }
  const { limit } = yield* watchPrompt({
    ...{
      work,
      sessionId: SessionId.make("s1"),
      maxWait: Duration.minutes(1),
      idleGrace: Duration.seconds(10),
      longestAnswerChars: 1_000,
      known: []
    },
    runtime: {
      ...memory,
      events: Stream.fromQueue(events),
      history: () => Effect.succeed([]),
      pendingPrompts: () =>
        Effect.suspend(() => {
          answers.looks += 1
          return answers.pending
        })
    },
    reporting: {
      tell: (name: string, report: SessionReport) =>
        Effect.sync(() => {
          told.push([name, report._tag === "RecordAgentQuestion" ? (report.earlier ?? []) : []])
        }),
      show: () => Effect.void,
      announce: () => Effect.void
    }
  })
  const asks = (promptId: string) => Queue.offer(events, { type: "prompting", ...question(promptId) })
  const until = (isSo: () => boolean) => Effect.repeat(Effect.sleep(1), { until: isSo })
  return { answers, asks, limit, told, until }
})

describe("an agent that asks again after its runtime was restarted", () => {
  it.live("is reported with the question that is open, though the runtime tells late of the one that it lost", () =>
    Effect.gen(function* () {
      const { answers, asks, limit, told, until } = yield* watching
      yield* asks("q1")
      yield* until(() => told.length === 1)
      answers.pending = Effect.succeed([question("q3")])
      yield* asks("q3")
      yield* asks("q2")
      yield* Effect.forkScoped(limit)
      const looked = answers.looks
      yield* until(() => answers.looks >= looked + 6)
      assert.deepStrictEqual(
        told.filter(([name]) => name.startsWith("asks.")),
        [
          ["asks.q1", []],
          ["asks.q3", ["q1"]]
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(surroundings(() => [])))
  )

  it.live("is not taken for answered by an answer that the runtime gave before it asked", () =>
    Effect.gen(function* () {
      const { answers, asks, limit, told, until } = yield* watching
      answers.pending = Effect.gen(function* () {
        if (told.length > 0) return [question("q1")]
        yield* asks("q1")
        yield* until(() => told.length > 0)
        return []
      })
      yield* Effect.forkScoped(limit)
      yield* until(() => answers.looks >= 4)
      assert.deepStrictEqual(told, [["asks.q1", []]])
    }).pipe(Effect.scoped, Effect.provide(surroundings(() => [])))
  )
})
