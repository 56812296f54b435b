// @module-tag long
/**
 * Notices while no page is open. The browser's own push service is on the internet, so the page gets a subscription of a
 * push service on this machine; what that is sent is decrypted and handed to the browser, which wakes the service worker.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makePushBrowsers, markOf, vapidOf } from "@reprise/gate"
import { type PushService, type SubscribedBrowser, startPushService } from "@reprise/testing"
import { Effect, Redacted } from "effect"
import type { CDPSession, Page, Worker } from "playwright-core"
import { act, lacksBrowser, openPage, pictured, presses, sees, startBrowser, startConsole } from "../harness/browser.ts"
import { signIn } from "../harness/consoleClient.ts"
import { answerElsewhere, emptyRepository, gateWith, openGate, raise, token } from "../harness/gateConsole.ts"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const secret = Redacted.make("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")

const makeBrowsers = (folder: string) =>
  makePushBrowsers({
    file: join(folder, "web-push.json"),
    vapid: vapidOf(secret, "https://reprise.example.org"),
    rules: { mark: markOf(Redacted.make(token)) },
    loopback: true
  })

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-push-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** The browser subscribes at the push service of this test; it remembers that over reloads. */
const subscribesAt = (page: Page, { subscription }: SubscribedBrowser) =>
  act(() =>
    page.addInitScript(`{
      const given = ${JSON.stringify(subscription)}
      const kept = () => localStorage.getItem("test-subscribed")
      const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0)).buffer
      const subscribed = () => ({
        endpoint: given.endpoint,
        options: { userVisibleOnly: true, applicationServerKey: bytes(kept()) },
        toJSON: () => given,
        unsubscribe: async () => { localStorage.removeItem("test-subscribed"); return true }
      })
      PushManager.prototype.getSubscription = async () => kept() === null ? null : subscribed()
      PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
        if (!userVisibleOnly) throw new Error("nothing may be hidden")
        const text = btoa(String.fromCharCode(...new Uint8Array(applicationServerKey)))
        localStorage.setItem("test-subscribed", text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""))
        return subscribed()
      }
    }`)
  )

interface Registered {
  readonly registrations: ReadonlyArray<{ readonly registrationId: string; readonly scopeURL: string }>
}

/** The browser's own id of the service worker. */
const registrationOf = (session: CDPSession) =>
  act(
    () =>
      new Promise<string>((resolve, reject) => {
        session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations: [one] }: Registered) => {
          if (one !== undefined) resolve(one.registrationId)
        })
        session.send("ServiceWorker.enable").catch(reject)
      })
  )

interface ShownNotice {
  readonly title: string
  readonly body: string
  readonly tag: string
}

const shown = (worker: Worker): Effect.Effect<ReadonlyArray<ShownNotice>> =>
  act(() =>
    worker.evaluate<ReadonlyArray<ShownNotice>>(
      "self.registration.getNotifications().then((all) => all.map(({ body, tag, title }) => ({ title, body, tag })))"
    )
  )
const shows = (worker: Worker, title: string | undefined) =>
  waitUntil(Effect.map(shown(worker), (all) => (all[0]?.title === title ? all : undefined)))

const open = Effect.fnUntraced(function* (service: PushService, push: ReturnType<typeof makeBrowsers>) {
  const { address, link } = yield* openGate({ push })
  const { page, problems } = yield* openPage(yield* startBrowser)
  const device = yield* service.subscribe("device")
  yield* subscribesAt(page, device)
  const context = page.context()
  yield* act(() => context.grantPermissions(["notifications"], { origin: address }))
  const started = context.waitForEvent("serviceworker")
  yield* act(() => page.goto(link))
  yield* sees(page, "Nothing needs you")
  const worker = yield* act(() => started)
  const session = yield* act(() => context.newCDPSession(page))
  const registrationId = yield* registrationOf(session)
  let delivered = 0
  /** What the push service has got goes to the browser, as it would by the internet. */
  const deliver = Effect.gen(function* () {
    const messages = yield* waitUntil(
      Effect.map(device.messages, (all) => (all.length > delivered ? all.slice(delivered) : undefined))
    )
    delivered += messages.length
    for (const data of messages) {
      yield* act(() =>
        session.send("ServiceWorker.deliverPushMessage", {
          origin: address,
          registrationId,
          data: JSON.stringify(data)
        })
      )
    }
  })
  return { address, deliver, device, page, problems, worker }
})

const toSettings = (page: Page, address: string) => act(() => page.goto(`${address}/settings`))

describe.skipIf(lacksBrowser)("notices while no page is open", () => {
  it.live(
    "are switched on in the settings, tell of a question, lead to it, and change when it is answered elsewhere",
    () =>
      Effect.gen(function* () {
        const push = makeBrowsers(yield* folder)
        const service = yield* startPushService()
        yield* Effect.gen(function* () {
          const { address, deliver, device, page, problems, worker } = yield* open(service, push)
          yield* toSettings(page, address)
          yield* sees(page, /^Off: this browser notifies you only while/)
          yield* pictured(page, "push off")
          yield* presses(page, /^Switch on/)
          yield* sees(page, /^On: this browser notifies you/)
          assert.lengthOf(push.names(), 1)
          yield* pictured(page, "push on")
          yield* act(() => page.reload())
          yield* sees(page, /^On: this browser notifies you/)

          // No page of the console is open any more.
          yield* act(() => page.goto("about:blank"))
          const id = yield* raise("colour", "Which colour?")
          yield* deliver
          assert.deepStrictEqual(yield* shows(worker, "The author needs you"), [
            { title: "The author needs you", body: "Which colour?", tag: "questions" }
          ])
          yield* raise("size", "Which size?")
          yield* deliver
          yield* shows(worker, "2 questions need you")
          yield* answerElsewhere("size")
          yield* deliver
          yield* shows(worker, "The author needs you")
          yield* act(() => page.goto(`${address}/runs`))
          yield* sees(page, "Live")
          yield* act(() =>
            worker.evaluate(`self.registration.getNotifications().then(([notification]) =>
            self.dispatchEvent(new NotificationEvent("notificationclick", { notification })))`)
          )
          yield* act(() => page.waitForURL(`${address}/questions/${id}`))
          yield* shows(worker, undefined)
          yield* act(() => page.goto("about:blank"))
          yield* answerElsewhere("colour")
          yield* deliver
          assert.deepStrictEqual(yield* shows(worker, "No longer needed"), [
            { title: "No longer needed", body: "bob answered 'fix' through cli.", tag: "questions" }
          ])

          yield* toSettings(page, address)
          yield* sees(page, /^On: this browser notifies you/)
          yield* presses(page, /^Switch off/)
          yield* sees(page, /^Off: this browser notifies you only while/)
          assert.deepStrictEqual(push.names(), [])
          const before = device.requests().length
          yield* raise("unheard", "Nobody hears this?")
          yield* sees(page, /^Needs you/)
          assert.lengthOf(device.requests(), before)

          const becomes = Effect.fnUntraced(function* (given: string, says: RegExp) {
            yield* act(() => page.addInitScript(given))
            yield* toSettings(page, address)
            yield* sees(page, says)
            yield* pictured(page, `push ${says.source.slice(0, 12)}`)
          })
          yield* act(() => page.setViewportSize({ width: 360, height: 740 }))
          const denied = 'Object.defineProperty(Notification, "permission", { get: () => "denied" })'
          yield* becomes(denied, /does not allow notices of the console/)
          yield* becomes("delete globalThis.PushManager", /cannot show notices here/)
          assert.deepStrictEqual(problems, [])
        }).pipe(
          Effect.scoped,
          Effect.provide(gateWith({ repository: emptyRepository }, { channels: [], push, remindAfterMs: 0 }))
        )
      }).pipe(Effect.scoped)
  )
})

it.live("under 'up --web' a browser subscribes with a key of the repository's own, at no address of this machine", () =>
  Effect.gen(function* () {
    const world = yield* makeWorld({ plan: plan("One"), script: script() })
    const { address, token: secretToken, up } = yield* startConsole(world)
    const headers = yield* signIn(address, secretToken)
    const send = (path: string, body?: object) =>
      Effect.promise(async () => {
        const posted = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
        return (await fetch(`${address}/api/${path}`, { headers, ...posted })).text()
      })
    const file = join(world.root, ".reprise", "web-push.key")
    const key = readFileSync(file, "utf8").trim()
    const { publicKey } = vapidOf(Redacted.make(key), "https://localhost")
    assert.include(yield* send("push"), `{"publicKey":"${publicKey}"}`)
    assert.strictEqual(statSync(file).mode & 0o077, 0)
    const service = yield* startPushService()
    const { subscription } = yield* service.subscribe("device")
    assert.include(yield* send("push/subscribe", subscription), "it does not begin with https://")
    const outside = { ...subscription, endpoint: "https://push.example.org/device" }
    assert.include(yield* send("push/subscribe", outside), '"ok":true')
    const kept = join(world.root, ".reprise", "web-push.json")
    assert.strictEqual(statSync(kept).mode & 0o077, 0)
    yield* up.kill("SIGTERM")
    const log = yield* world.reprise("logs", "latest")
    for (const secret of [key, subscription.keys.auth, outside.endpoint]) {
      assert.notInclude(`${log.stdout}${up.stdout}${up.stderr}`, secret)
    }
    assert.lengthOf(service.requests, 0)
  })
)
