import { assert, describe, it } from "@effect/vitest"
import { given } from "@reprise/actor/testing"
import { escalationActor } from "../src/actor/actor.ts"
import { at, option, question, raised, reply, timeAt } from "./fixtures.ts"

const escalation = given(escalationActor)

describe("answering with the name of an agent", () => {
  const options = [option("fix", { guidance: "optional", agent: true }), option("abort", { keys: ["q"] })]
  const asked = escalation([raised(question({ options }))])

  it("records it, publishes it and sends it to the run", () => {
    const named = { runtime: "claude", model: "opus", variant: "high" } as const
    const told = asked.when(reply("fix", { ...named, runtime: " claude " }), at(5))
    told.then([{ _tag: "Answered", at: timeAt(5), choice: "fix", by: "ada", via: "cli", ...named }])
    const events = told.outcome._tag === "Success" ? told.outcome.success : []
    const sent = JSON.stringify(escalationActor.react(told.state, events, at(5)))
    assert.strictEqual(sent.split('"runtime":"claude","model":"opus","variant":"high"').length - 1, 2)
    assert.containSubset(escalationActor.view?.(told.state), named)
  })

  it("takes empty names for none", () => {
    asked
      .when(reply("fix", { runtime: "", model: " ", variant: "" }), at(5))
      .then([{ _tag: "Answered", at: timeAt(5), choice: "fix", by: "ada", via: "cli" }])
  })

  it.each([
    [{ runtime: "nobody" }, "fix", /There is no runtime 'nobody'\. Name one of/],
    [{ model: "a b" }, "fix", /'a b' names no model/],
    [{ variant: "a b" }, "fix", /'a b' names no variant/],
    [{ runtime: "claude" }, "abort", /'abort' starts no fresh author here/]
  ] as const)("refuses %j with %s, and stays open", (named, choice, reason) => {
    asked.when(reply(choice, named), at(5)).refused(reason)
  })
})
