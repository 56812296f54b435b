// @module-tag long
import { assert, describe, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { Effect } from "effect"
import { act, lacksBrowser, openPage, sees, startBrowser } from "../harness/browser.ts"
import { gateWith, openGate, raise } from "../harness/gateConsole.ts"
import { startOtherPort } from "../harness/otherPort.ts"

const secret = "Which secret word?"
const paths = ["session", "questions", "questions/secret-e1", "runs", "runs/secret/events", "events", "live?run=secret"]

describe.skipIf(lacksBrowser)("a server on another port, opened in a browser that is signed in", () => {
  layer(gateWith(), { excludeTestServices: true, timeout: "10 minutes" })("over a broker in memory", (it) => {
    it.effect("gets nothing by which the console shows it anything, and signs nobody out", () =>
      Effect.gen(function* () {
        const { address, link } = yield* openGate()
        const id = yield* raise("secret", secret)
        const { page } = yield* openPage(yield* startBrowser)
        yield* act(() => page.goto(link))
        yield* sees(page, secret)
        const other = yield* startOtherPort(address)
        const foreign = yield* act(() => page.context().newPage())
        yield* act(() => foreign.goto(other.address))
        yield* act(() => foreign.waitForFunction("document.title === 'tried'"))
        assert.deepStrictEqual(yield* act(() => foreign.evaluate("globalThis.gained")), [])
        assert.isAbove(yield* act(() => foreign.evaluate<number>("globalThis.tries")), 25)
        // Whatever the browser has sent there is tried at the console, by a program that may say anything.
        for (const { authorization = "", cookie = "" } of other.received) {
          const values = cookie.split("; ").map((one) => one.slice(one.indexOf("=") + 1))
          for (const path of paths) {
            for (const session of ["", ...values]) {
              const tried = { authorization, cookie, "sec-fetch-site": "same-origin", "x-reprise-session": session }
              const { body, status } = yield* act(() => fetch(`${address}/api/${path}`, { headers: tried }))
              yield* act(async () => body?.cancel())
              assert.strictEqual(status, 401, `${path} for ${JSON.stringify(tried)}`)
            }
          }
        }
        assert.strictEqual((yield* Messenger.use(({ show }) => show.gate(id))).state, "open")
        yield* act(() => page.reload())
        yield* sees(page, secret)
      })
    )
  })
})
