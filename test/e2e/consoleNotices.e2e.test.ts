// @module-tag long
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Page, Worker } from "playwright-core"
import { act, lacksBrowser, openPage, presses, sees, startBrowser } from "../harness/browser.ts"
import { answerElsewhere, gateWith, openGate, raise } from "../harness/gateConsole.ts"
import { waitUntil } from "../harness/waitUntil.ts"

interface ShownNotice {
  readonly title: string
  readonly body: string
}

/** What the browser shows. */
const shown = (page: Page): Effect.Effect<ReadonlyArray<ShownNotice>> =>
  act(() =>
    page.evaluate<ReadonlyArray<ShownNotice>>(
      "navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) => all.map(({ body, title }) => ({ body, title })))"
    )
  )
const showsTitle = (page: Page, title: string | undefined) =>
  waitUntil(Effect.map(shown(page), (all) => (all[0]?.title === title ? all : undefined)))

/** Whether somebody looks at the console, which a browser without a screen does not know. */
const lookAway = (worker: Worker, isLookedAt: boolean) =>
  act(() =>
    worker.evaluate(
      `Object.defineProperty(WindowClient.prototype, "focused", { get: () => ${isLookedAt}, configurable: true })`
    )
  )

/** Presses the notice, as the desktop or the telephone would. */
const pressNotice = (worker: Worker) =>
  act(() =>
    worker.evaluate(`self.registration.getNotifications().then(([notification]) =>
      self.dispatchEvent(new NotificationEvent("notificationclick", { notification })))`)
  )

const open = Effect.fnUntraced(function* (isTelephone = false) {
  const { address, link } = yield* openGate()
  const telephone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
  const { page, problems } = yield* openPage(yield* startBrowser, isTelephone ? telephone : {})
  const context = page.context()
  const started = context.waitForEvent("serviceworker")
  yield* act(() => page.goto(link))
  yield* sees(page, "Nothing needs you")
  const worker = yield* act(() => started)
  yield* lookAway(worker, false)
  assert.strictEqual(yield* act(() => page.evaluate("Notification.permission")), "default", "nothing asks by itself")
  yield* act(() => context.grantPermissions(["notifications"], { origin: address }))
  return { address, page, problems, worker, context, link }
})

const turnOn = Effect.fnUntraced(function* (page: Page) {
  yield* presses(page, /^Show notices/)
  yield* act(() => page.getByRole("button", { name: "Notices are on" }).waitFor())
})

describe.skipIf(lacksBrowser)("notices of the browser", () => {
  layer(gateWith(), { excludeTestServices: true, timeout: "10 minutes" })("over a broker in memory", (it) => {
    it.effect("tell of a question, lead to it in the tab that is open, and go when it is answered elsewhere", () =>
      Effect.gen(function* () {
        const { address, page, problems, worker } = yield* open(true)
        yield* raise("unwanted", "Before anybody wanted notices?")
        yield* sees(page, "Before anybody wanted notices?")
        yield* turnOn(page)
        yield* answerElsewhere("unwanted")
        const id = yield* raise("colour", "Which colour?")
        assert.deepStrictEqual(yield* showsTitle(page, "The author needs you"), [
          { title: "The author needs you", body: "Which colour?" }
        ])
        yield* act(() => page.getByRole("link", { name: "Runs" }).click())
        yield* act(() => page.waitForURL(`${address}/runs`))
        yield* pressNotice(worker)
        yield* act(() => page.waitForURL(`${address}/questions/${id}`))
        yield* showsTitle(page, undefined)
        const next = yield* raise("size", "Which size?")
        yield* showsTitle(page, "The author needs you")
        yield* answerElsewhere("colour")
        yield* answerElsewhere("size")
        yield* showsTitle(page, undefined)
        assert.isString(next)
        assert.deepStrictEqual(problems, [])
      })
    )
  })
})
