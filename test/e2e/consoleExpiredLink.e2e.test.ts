// @module-tag long
import { createHmac } from "node:crypto"
import { assert, describe, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { Effect, Redacted } from "effect"
import { act, lacksBrowser, openPage, sees, startBrowser } from "../harness/browser.ts"
import { gateWith, openGate, raise } from "../harness/gateConsole.ts"

const key = "the key that signs the links of this test"

/** As a notification has it (docs/notifications.md#answers-by-a-link). */
const linkTo = (address: string, escalationId: string, expiresMs: number) => {
  const fields = [escalationId, "fix", "team", Math.floor(expiresMs / 1000)]
  const claim = Buffer.from(JSON.stringify(fields)).toString("base64url")
  const signature = createHmac("sha256", key).update(`reprise-answer-1.${claim}`).digest("base64url")
  return `${address}/answer#${claim}.${signature}`
}

const stateOf = (escalationId: Effect.Success<ReturnType<typeof raise>>) =>
  Messenger.use(({ show }) => show.gate(escalationId)).pipe(Effect.map(({ state }) => state))

describe.skipIf(lacksBrowser)("a link that answers", () => {
  layer(gateWith(), { excludeTestServices: true, timeout: "10 minutes" })("over a broker in memory", (it) => {
    it.effect("says that it has expired, and offers no answer, when it is opened late and while it is open", () =>
      Effect.gen(function* () {
        const { address } = yield* openGate({ answerKey: Redacted.make(key) })
        const id = yield* raise("expired", "Which way?")
        const { page, problems } = yield* openPage(yield* startBrowser)
        const answers = page.getByRole("button", { name: /^Answer/ })
        yield* act(() => page.goto(linkTo(address, id, Date.now() - 60_000)))
        yield* sees(page, /This link has expired\. A newer message about the question has a new one\./)
        yield* sees(page, "Which way?")
        assert.strictEqual(yield* act(() => answers.count()), 0)

        yield* act(() => page.goto("about:blank"))
        yield* act(() => page.goto(linkTo(address, id, Date.now() + 20_000)))
        yield* act(() => answers.waitFor())
        yield* sees(page, /This link has expired/)
        yield* act(() => answers.waitFor({ state: "detached" }))
        assert.strictEqual(yield* stateOf(id), "open")
        assert.deepStrictEqual(problems, [])
      })
    )
  })
})
