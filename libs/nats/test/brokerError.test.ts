import { assert, describe, it } from "@effect/vitest"
import { JetStreamApiError } from "@nats-io/jetstream"
import { JetStreamStatusError } from "@nats-io/jetstream/internal"
import { brokerError, jetStreamCode } from "../src/BrokerError.ts"

const refusal = (err_code: number) => new JetStreamApiError({ code: 400, err_code, description: "said so" })

describe("brokerError", () => {
  it("takes a consumer that nobody serves, and a message that is still being stored, for no answer", () => {
    for (const thrown of [new JetStreamStatusError("no responders", 503), refusal(jetStreamCode.duplicateInProcess)]) {
      assert.strictEqual(brokerError("list views", thrown)._tag, "RequestTimedOut")
    }
  })

  it("keeps what it does not know as the client's own fault", () => {
    const thrown = new JetStreamStatusError("exceeded maxrequestbatch", 409)
    assert.strictEqual(brokerError("list views", thrown)._tag, "ClientFault")
  })
})
