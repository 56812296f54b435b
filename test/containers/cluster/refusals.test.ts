import { assert, it } from "@effect/vitest"
import { refusalsIn } from "./refusals.ts"

const line = (what: string) => `[6] 2026/11/26 17:01:19.049416 [ERR] 10.0.0.61:47212 - cid:262 - ${what}`

it("a server's log tells everything that was refused, but answers for which their connection has ended", () => {
  const refused = [
    'Publish Violation - Nkey "U1", Subject "reprise.command.gate.r1"',
    'Subscription Violation - Nkey "U1", Subject "_INBOX_gate.>", SID 1',
    "authentication error"
  ].map(line)
  const answer = line('Publish Violation - Nkey "U1", Subject "_INBOX_session-manager.CvcGPGw22Vtexh67nJeGlo.2109"')
  assert.deepStrictEqual(refusalsIn(["[INF] Server is ready", ...refused, answer].join("\n")), refused)
})
