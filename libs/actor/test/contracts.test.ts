/** Mistakes about contracts that do not compile: each `@ts-expect-error` fails the type check when one does. */
import { assert, describe, it } from "@effect/vitest"
import { PublicEvent, RunId, SessionId, to } from "@reprise/protocol"
import { Effect } from "effect"
import { type Actor, type AskOptions, Messenger, refusing } from "../src/index.ts"
import { type CounterEvent, type CounterInput, type CounterState, counter } from "./support/Counter.ts"

type CounterActor = Actor<CounterState, CounterInput, CounterEvent>

describe("an actor", () => {
  it("cannot subscribe to an event that is not one of its inputs", () => {
    const wrong: CounterActor = {
      ...counter,
      subscription: {
        // @ts-expect-error: VerdictReached is no input of the counter
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

  it("cannot refuse with a code that its service's contract does not have", () => {
    // @ts-expect-error: `dirty-tree` is no refusal code of the gate
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
