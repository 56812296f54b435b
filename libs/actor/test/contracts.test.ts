/** Mistakes about contracts that do not compile: each `@ts-expect-error` fails the type check when one does. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, PublicEvent, RunId, SessionId, to } from "@reprise/protocol"
import { Effect } from "effect"
import { type Actor, type AskOptions, Messenger, refusing, requestWork, send, setTimer } from "../src/index.ts"
import {
  type CounterEvent,
  type CounterInput,
  type CounterState,
  type CounterWork,
  counter
} from "./support/Counter.ts"

type CounterActor = Actor<CounterState, CounterInput, CounterEvent, CounterWork>

describe("an actor", () => {
  it("cannot subscribe to an event that is not one of its inputs", () => {
    const wrong: CounterActor = {
      ...counter,
      subscription: {
        // @ts-expect-error: the counter does not take VerdictReached
        types: ["VerdictReached"],
        route: ({ runId }) => runId
      }
    }
    assert.deepStrictEqual<unknown>(wrong.subscription?.types, ["VerdictReached"])
  })

  it("must handle every event that is one of its inputs", () => {
    // @ts-expect-error: RunAborted is an input of the counter, and not handled here
    const name = (event: Extract<CounterInput, PublicEvent>): string => {
      switch (event._tag) {
        case "RunPaused":
          return "paused"
      }
    }
    assert.strictEqual(name(PublicEvent.cases.RunPaused.make({ runId: RunId.make("r1") })), "paused")
  })

  it("cannot request work that its worker does not do, or set a timer for a command that it does not take", () => {
    const foreignWork: CounterActor = {
      ...counter,
      // @ts-expect-error: the counter's worker does no Paint
      react: () => [requestWork(anyHost, { _tag: "Paint" as const, colour: "red" })]
    }
    const foreignTimer: CounterActor = {
      ...counter,
      // @ts-expect-error: the counter has no command PauseRun
      react: () => [setTimer("2026-01-01T00:00:00.000Z", { _tag: "PauseRun" as const })]
    }
    assert.lengthOf([foreignWork, foreignTimer], 2)
  })

  it("cannot send a command without the type of its receiver", () => {
    // @ts-expect-error: a command is made by `to`, with its address
    assert.isDefined(send("gate", "e1", { _tag: "VerifyCommit" }))
  })

  it("cannot refuse with a code that its service's contract does not have", () => {
    // @ts-expect-error: `dirty-tree` is not a refusal code of the gate
    assert.isDefined(refusing("gate")("dirty-tree", "No."))
  })
})

describe("asking", () => {
  it("takes only commands that an event answers, and knows which", () => {
    const options: AskOptions = { timeout: "1 millis" }
    const reply = to.sessionManager(SessionId.make("s1")).ReplyToPrompt({ promptId: "p", reply: "once" })
    // @ts-expect-error: no event answers ReplyToPrompt
    assert.isDefined(Messenger.use((messenger) => messenger.ask(reply, options)))
    const resumed = Messenger.use((messenger) => messenger.ask(to.orchestrator(RunId.make("r1")).ResumeRun(), options))
    // @ts-expect-error: ResumeRun is answered by RunResumed
    assert.isDefined(Effect.map(resumed, ({ _tag }) => _tag === "RunPaused"))
  })
})
