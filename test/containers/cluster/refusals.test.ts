import { assert, it } from "@effect/vitest"
import { refusalsIn } from "./refusals.ts"

const line = (what: string) => `[6] 2026/11/26 17:01:19.049416 [ERR] 10.0.0.61:47212 - cid:262 - ${what}`

it("a server's log tells everything that was refused, but answers for which their connection has ended", () => {
  const refused = [
    'Publish Violation - Nkey "U1", Subject "reprise.command.gate.r1"',
    'Subscription Violation - Nkey "U1", Subject "_INBOX_gate.>", SID 1',
    "authentication error"
  ].map(line)
  // A person's inbox has no name.
  const answers = ["_INBOX_session-manager.CvcGPGw22Vtexh67nJeGlo.2109", "_INBOX.SA4wvAPBkt0Y5p51yTM7v1.123"].map(
    (inbox) => line(`Publish Violation - Nkey "U1", Subject "${inbox}"`)
  )
  assert.deepStrictEqual(refusalsIn(["[INF] Server is ready", ...refused, ...answers].join("\n")), refused)
})
