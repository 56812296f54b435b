/** Browsers that are told while no page is open: the gate, its console and its file are real, and so is the push service. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, drain, MemoryBroker, Messenger } from "@reprise/actor"
import { type EscalationId, to } from "@reprise/protocol"
import { type SubscribedBrowser, startPushService, vapidClaims } from "@reprise/testing"
import { Effect, Layer, Redacted, Stream } from "effect"
import type { PushRules } from "../src/console/pushSubscription.ts"
import { layerWith, makePushBrowsers, markOf, send, vapidOf } from "../src/index.ts"
import { ask, openWith, raise, sources, token } from "./support/consoleOverMemory.ts"

const secret = Redacted.make("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-push-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const makeBrowsers = (file: string, rules: PushRules = { mark: markOf(Redacted.make(token)) }) =>
  makePushBrowsers({ file, vapid: vapidOf(secret, "https://reprise.example.org"), rules, loopback: true })

/** A gate that tells browsers, and its console. */
const start = Effect.gen(function* () {
  const file = join(yield* folder, "web-push.json")
  const push = makeBrowsers(file)
  yield* Layer.build(layerWith({ channels: [], push, remindAfterMs: 0 }))
  const viewerToken = Redacted.make("the token of viewers")
  const console = yield* openWith({ push, viewerToken, token: Redacted.make(token) })
  const session = yield* console.signIn
  const post = (
    path: string,
    body: object,
    headers: Readonly<Record<string, string>> = { "x-reprise-session": session }
  ) => console.send("POST", `/api/push/${path}`, { ...console.own, ...headers }, JSON.stringify(body))
  return { file, push, console, session, post }
})

/** What is under way in the process and at the push service goes on. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
const waitUntil = (condition: () => boolean) => Effect.repeat(turn, { until: condition })

const received = (browser: SubscribedBrowser, count: number) =>
  Effect.andThen(
    waitUntil(() => browser.requests().length >= count),
    browser.messages
  )

const answer = (id: EscalationId) =>
  Messenger.use((messenger) => messenger.send(to.gate(id).AnswerEscalation({ choice: "fix", by: "bob", via: "cli" })))

const world = sources.pipe(
  Layer.provideMerge(Messenger.layer),
  Layer.provideMerge(MemoryBroker.layer),
  Layer.provideMerge(ActorConfig.layer({ prefix: "t" }))
)
const live = (title: string, test: () => Effect.Effect<void, unknown, unknown>) =>
  it.live(title, () => (test() as Effect.Effect<void>).pipe(Effect.scoped, Effect.provide(world)))

describe("a browser that wants to be told while no page is open", () => {
  live(
    "is told of a question and of its end by encrypted messages of this gate, under one topic, until it does not want to",
    () =>
      Effect.gen(function* () {
        const service = yield* startPushService()
        const { console, file, post, push, session } = yield* start
        const shown = yield* console.send("GET", "/api/push", { "x-reprise-session": session })
        assert.include(shown.text, `"publicKey":"${push.publicKey}"`)
        const before = yield* raise
        yield* drain
        const phone = yield* service.subscribe("phone")
        assert.strictEqual((yield* post("subscribe", phone.subscription)).status, 200)
        assert.strictEqual((yield* post("subscribe", phone.subscription)).status, 200, "it stays one")
        assert.strictEqual(statSync(file).mode & 0o077, 0, "nobody else reads it")
        const id = yield* raise
        const [raised] = yield* received(phone, 1)
        assert.deepStrictEqual(raised, {
          version: 1,
          kind: "raised",
          questions: [{ id, title: "The author needs you", text: "Which database?" }],
          more: 0
        })
        yield* answer(before)
        yield* answer(id)
        const [, closed] = yield* received(phone, 2)
        assert.containSubset(closed, { kind: "closed", questions: [{ id, text: "bob answered 'fix' through cli." }] })
        const [first, second] = phone.requests()
        assert.strictEqual(first?.headers["topic"], second?.headers["topic"])
        assert.containSubset(first?.headers, { "content-encoding": "aes128gcm", ttl: "86400", urgency: "high" })
        const claims = yield* Effect.promise(() => vapidClaims(`${first?.headers.authorization}`))
        assert.containSubset(claims, { aud: service.url, key: push.publicKey, sub: "https://reprise.example.org" })
        assert.notInclude(`${first?.body}`, "database", "nobody reads it on the way")
        const { endpoint } = phone.subscription
        assert.strictEqual((yield* post("unsubscribe", { endpoint })).status, 200)
        assert.isFalse(existsSync(file))
        yield* raise
        yield* drain
        assert.lengthOf(phone.requests(), 2)
      })
  )

  live("is forgotten when its push service says that it is gone, and others are told nevertheless", () =>
    Effect.gen(function* () {
      const gone = { lost: 404, removed: 410 }
      const service = yield* startPushService(({ path }) => ({
        status: Object.entries(gone).find(([name]) => path.endsWith(name))?.[1] ?? 201
      }))
      const { post, push } = yield* start
      const [phone, lost, removed] = yield* Effect.forEach(["phone", "lost", "removed"], service.subscribe)
      for (const one of [phone, lost, removed]) yield* post("subscribe", one?.subscription ?? {})
      assert.lengthOf(push.names(), 3)
      yield* raise
      yield* waitUntil(() => push.names().length === 1)
      const id = yield* raise
      yield* waitUntil(() => (phone?.requests().length ?? 0) === 2)
      yield* drain
      assert.deepStrictEqual([lost?.requests().length, removed?.requests().length], [1, 1])
      assert.notProperty(yield* Messenger.use(({ show }) => show.gate(id)), "notNotified")
      assert.deepStrictEqual(yield* Messenger.use((messenger) => messenger.deadLetters()), [])
    })
  )

  live("is tried again while its push service fails, without holding up another browser", () =>
    Effect.gen(function* () {
      let isUp = false
      const service = yield* startPushService(({ path }) => ({ status: isUp || path.endsWith("phone") ? 201 : 503 }))
      const { post } = yield* start
      const [phone, desk] = yield* Effect.forEach(["phone", "desk"], service.subscribe)
      for (const one of [phone, desk]) yield* post("subscribe", one?.subscription ?? {})
      const id = yield* ask
      yield* waitUntil(() => phone?.requests().length === 1 && (desk?.requests().length ?? 0) > 0)
      const shown = Effect.andThen(
        turn,
        Messenger.use(({ show }) => show.gate(id))
      )
      const waiting = yield* Effect.repeat(shown, { until: ({ notNotified }) => notNotified?.length === 1 })
      assert.match(`${waiting.notNotified}`, /^web-push-[\w-]{12}$/)
      isUp = true
      yield* Effect.repeat(shown, { until: ({ notNotified }) => notNotified === undefined })
      assert.lengthOf(phone?.requests() ?? [], 1)
    })
  )

  live("is one of an answerer, and no other page can add it; addresses of this machine's networks are refused", () =>
    Effect.gen(function* () {
      const service = yield* startPushService()
      const { console, file, post, push, session } = yield* start
      const { subscription } = yield* service.subscribe("phone")
      const viewer = yield* console.signInWith("the token of viewers")
      assert.strictEqual((yield* post("subscribe", subscription, { "x-reprise-session": viewer })).status, 403)
      assert.strictEqual((yield* post("subscribe", subscription, {})).status, 401)
      assert.strictEqual(
        (yield* post("subscribe", subscription, { "x-reprise-session": session, origin: "https://evil.example" }))
          .status,
        403
      )
      assert.strictEqual((yield* console.send("GET", "/api/push")).status, 401)
      for (const endpoint of ["https://127.0.0.1/x", "https://router.lan/x", "http://push.example.org/x", "x"]) {
        const refused = yield* post("subscribe", { ...subscription, endpoint })
        assert.strictEqual(refused.status, 422, endpoint)
        assert.include(refused.text, "push service cannot be used")
      }
      const badKeys = { ...subscription, keys: { ...subscription.keys, p256dh: "A".repeat(87) } }
      assert.strictEqual((yield* post("subscribe", badKeys)).status, 422)
      const long = { ...subscription, endpoint: `https://push.example.org/${"x".repeat(1100)}` }
      assert.strictEqual((yield* post("subscribe", long)).status, 400)
      assert.deepStrictEqual(push.names(), [])
      yield* post("subscribe", subscription)
      assert.lengthOf(push.names(), 1)
      assert.deepStrictEqual(makeBrowsers(file, { mark: "of another token" }).names(), [], "a new token ends it")
      writeFileSync(file, "{")
      assert.deepStrictEqual(push.names(), [], "a damaged file names nobody")
    })
  )

  live("stands in no event and no question, with its address or its keys", () =>
    Effect.gen(function* () {
      const service = yield* startPushService()
      const { file, post } = yield* start
      const phone = yield* service.subscribe("phone")
      yield* post("subscribe", phone.subscription)
      const id = yield* raise
      yield* received(phone, 1)
      yield* answer(id)
      yield* received(phone, 2)
      const messenger = yield* Messenger
      const events = yield* messenger.events({ from: "beginning" }).pipe(
        Stream.takeUntil(({ event }) => event._tag === "EscalationAnswered"),
        Stream.runCollect
      )
      const stored = JSON.stringify([events, yield* messenger.show.gate(id)])
      const { endpoint, keys } = phone.subscription
      for (const one of [endpoint, keys.auth, keys.p256dh, Redacted.value(secret)]) assert.notInclude(stored, one)
      assert.notInclude(readFileSync(file, "utf8"), Redacted.value(secret))
    })
  )

  live("is told by a test message, as every other channel is", () =>
    Effect.gen(function* () {
      const service = yield* startPushService()
      const { post, push } = yield* start
      const phone = yield* service.subscribe("phone")
      yield* post("subscribe", phone.subscription)
      const [name = ""] = push.names()
      const channel = push.channelOf(name) ?? assert.fail("no channel")
      assert.deepStrictEqual(yield* send(channel, [{ _tag: "Test", id: "t" }]), { _tag: "Delivered" })
      assert.containSubset(yield* phone.messages, [{ kind: "test" }])
    })
  )
})
