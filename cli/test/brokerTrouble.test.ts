import { assert, describe, it } from "@effect/vitest"
import { BrokerFault, BrokerFull, SendFailed } from "@reprise/actor"
import { RequestTimedOut } from "@reprise/nats"
import { readable } from "../src/system/broker/brokerTrouble.ts"
import { CliFailure } from "../src/terminal/CliFailure.ts"

const operation = "publish to reprise.command.gate.r1-e1"
const silent = new BrokerFault({ operation, cause: new RequestTimedOut({ operation }) })
const full = new BrokerFull({ operation, reason: "maximum bytes exceeded" })

describe("an error of the broker, as people read it", () => {
  it.each([
    [silent, "The broker did not answer in time."],
    [full, "The broker has no space left."],
    [new BrokerFault({ operation, cause: new Error("x") }), "The broker failed."],
    [new SendFailed({ what: "StartRun", cause: silent }), "StartRun was not sent: the broker did not answer in time."],
    [new SendFailed({ what: "StartRun", cause: full }), "StartRun was not sent: the broker has no space left."]
  ])("is a sentence without subjects, with the next step and exit code 3: %s", (error, sentence) => {
    const shown = readable(error)
    assert.instanceOf(shown, CliFailure)
    const { exitCode, hint, message } = shown as CliFailure
    assert.deepStrictEqual([message, exitCode], [sentence, 3])
    assert.match(hint, /doctor/)
  })

  it("stays as it is when it is of something else", () => {
    const other = new SendFailed({ what: "StartRun", cause: new Error("it does not match its schema") })
    assert.strictEqual(readable(other), other)
  })
})
