import { assert, layer } from "@effect/vitest"
import { drain } from "@reprise/actor"
import { type ReceiverHandle, startReceiver } from "@reprise/testing"
import { Effect, Redacted } from "effect"
import { send } from "../src/index.ts"
import type { Channel } from "../src/work/notify/Channel.ts"
import { answer, ask, deadLettersOf, newQuestion, startGate, waitUntil, world } from "./support/overJetStream.ts"
import { verified } from "./support/verified.ts"

const secret = "the secret of this test"

const webhook = ({ url }: Pick<ReceiverHandle, "url">, name = "hook"): Channel => ({
  name,
  preset: "webhook",
  url: Redacted.make(`${url}/hook`),
  secret: Redacted.make(secret),
  reminders: true
})

/** A port of this machine was another program's before, and somebody may still call that. */
const deliveries = ({ requests }: ReceiverHandle) =>
  requests.filter(({ path }) => path === "/hook").map(({ headers }) => headers["reprise-delivery"])
const bodies = ({ requests }: ReceiverHandle) => requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>)
layer(world, { excludeTestServices: true, timeout: "5 minutes" })("notifications over JetStream", (it) => {
  it.effect("tell a webhook once of a question, signed, with a link, and once of its answer without the guidance", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      yield* startGate({ channels: [webhook(receiver)], origin: "https://reprise.example.org" })
      const id = newQuestion()
      yield* ask(id)
      yield* ask(id)
      yield* waitUntil(() => receiver.requests.length > 0)
      yield* drain
      yield* answer(id)
      const [raisedId, answeredId] = [`${id.escalationId}.hook.raised`, `${id.escalationId}.hook.answered`]
      yield* waitUntil(() => deliveries(receiver).includes(answeredId))
      yield* drain
      // Each once, or again under the same id: a receiver takes those for one.
      assert.deepStrictEqual([...new Set(deliveries(receiver))], [raisedId, answeredId])
      const [raised, answered] = [bodies(receiver)[0], bodies(receiver).at(-1)]
      assert.containSubset(raised, {
        kind: "raised",
        delivery: `${id.escalationId}.hook.raised`,
        question: { ...id, reason: "Which <b>database</b>?" },
        link: `https://reprise.example.org/questions/${id.escalationId}`
      })
      assert.containSubset(answered, { kind: "answered", closed: { by: "ada", via: "cli", choice: "fix" } })
      assert.notInclude(JSON.stringify(answered), "hush")
      for (const { body, headers } of receiver.requests) {
        const signature = `${headers["reprise-signature"]}`
        assert.isTrue(yield* verified(secret, signature, body))
        assert.isFalse(yield* verified(secret, signature, `${body} `))
        assert.isFalse(yield* verified("another", signature, body))
      }
    })
  )

  it.effect("are sent again under the same id until the receiver takes them", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver((_, n) => ({ status: n < 3 ? 500 : 200 }))
      yield* startGate({ channels: [webhook(receiver)] })
      const id = newQuestion()
      yield* ask(id)
      yield* waitUntil(() => receiver.requests.length >= 3)
      yield* drain
      assert.deepStrictEqual(new Set(deliveries(receiver)), new Set([`${id.escalationId}.hook.raised`]))
      assert.deepStrictEqual(yield* deadLettersOf(id), [])
    })
  )

  it.effect("wait as long as the receiver asks for", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const receiver = yield* startReceiver((_, n) => {
        times.push(Date.now())
        return n === 1 ? { status: 429, headers: { "retry-after": "3" } } : { status: 204 }
      })
      yield* startGate({ channels: [webhook(receiver)] })
      yield* ask(newQuestion())
      yield* waitUntil(() => times.length >= 2)
      yield* drain
      const [first = 0, second = 0] = times
      assert.isAtLeast(second - first, 2_900)
    })
  )

  it.effect("that a receiver refuses for good become a dead letter in plain words, and are not sent again", () =>
    Effect.gen(function* () {
      const replies = [{ status: 410 }, { status: 404 }, { status: 302, headers: { location: "/elsewhere" } }]
      const receiver = yield* startReceiver((_, n) => replies[n - 1] ?? { status: 200 })
      yield* startGate({ channels: [webhook(receiver)] })
      const reasons = [/it answered 410/, /it answered 404/, /a redirect, and those are not followed/]
      for (const [index, reason] of reasons.entries()) {
        const id = newQuestion()
        yield* ask(id)
        yield* waitUntil(() => receiver.requests.length === index + 1)
        yield* drain
        const [letter, ...more] = yield* deadLettersOf(id)
        assert.lengthOf(more, 0)
        assert.match(letter?.content?.reason ?? "", reason)
        assert.include(
          letter?.content?.reason,
          `Telling channel 'hook' that question ${id.escalationId} was raised failed:`
        )
        assert.notInclude(JSON.stringify(letter), receiver.url, "the address may be a secret")
      }
      assert.isTrue(receiver.requests.every(({ path }) => path === "/hook"))
    })
  )

  it.effect("to a receiver that never answers do not hold up the others", () =>
    Effect.gen(function* () {
      const hanging = yield* startReceiver(() => "never")
      const quick = yield* startReceiver()
      const channels = [webhook(hanging, "hanging"), webhook(quick, "quick")]
      // Nothing that the hanging receiver holds is given back before the end.
      yield* startGate({ channels, timeoutMs: 15 * 60_000 })
      const ids = Array.from({ length: 40 }, newQuestion)
      yield* Effect.forEach(ids, ask, { concurrency: 10 })
      yield* waitUntil(() => new Set(deliveries(quick)).size === ids.length)
      assert.isAtMost(hanging.atOnce(), 4)
    })
  )

  it.effect("of a question that was answered before it could be told end there, without a word of its end", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 503 }))
      yield* startGate({ channels: [webhook(receiver)] })
      const id = newQuestion()
      yield* ask(id)
      yield* waitUntil(() => receiver.requests.length > 0)
      yield* answer(id)
      // The receiver never takes it, so this would not end if it were still tried.
      yield* drain
      assert.deepStrictEqual(new Set(deliveries(receiver)), new Set([`${id.escalationId}.hook.raised`]))
      assert.deepStrictEqual(yield* deadLettersOf(id), [])
    })
  )

  it.effect("of every preset reach a receiver, but none a port that HTTP may not use", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const bot: Channel = {
        name: "bot",
        preset: "telegram",
        url: Redacted.make(receiver.url),
        token: Redacted.make("1:abc"),
        chat: "-1",
        reminders: true
      }
      const slack: Channel = { name: "s", preset: "slack", url: Redacted.make(`${receiver.url}/s`), reminders: true }
      const outcomes = yield* Effect.forEach([bot, slack, webhook(receiver)], (channel) =>
        send(channel, [{ _tag: "Test", id: "t" }])
      )
      assert.deepStrictEqual(outcomes, Array(3).fill({ _tag: "Delivered" }))
      assert.deepStrictEqual(
        receiver.requests.map(({ path }) => path),
        ["/bot1:abc/sendMessage", "/s", "/hook"]
      )
      const refused = yield* send({ ...slack, url: Redacted.make("http://127.0.0.1:9/s") }, [{ _tag: "Test", id: "t" }])
      assert.deepStrictEqual(refused, { _tag: "Refused", reason: "its port is none that HTTP may use" })
    })
  )

  it.effect("come together in a chat: the first at once, those that soon follow in one message", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const phone: Channel = {
        name: "phone",
        preset: "ntfy",
        url: Redacted.make(`${receiver.url}/topic`),
        reminders: true
      }
      const batchMs = 2_000
      yield* startGate({ channels: [phone], batchMs })
      const startedMs = performance.now()
      yield* ask(newQuestion())
      yield* waitUntil(() => receiver.requests.length > 0)
      const ids = Array.from({ length: 50 }, newQuestion)
      yield* Effect.forEach(ids, ask, { concurrency: 50 })
      yield* drain
      const titles = bodies(receiver).map(({ title }) => `${title}`)
      assert.notInclude(titles[0], "questions")
      const most = Math.floor((performance.now() - startedMs) / batchMs) + 2
      assert.isAtMost(titles.length, most, titles.join("; "))
      const told = titles.reduce((sum, title) => sum + Number(/(\d+) questions$/.exec(title)?.[1] ?? 1), 0)
      // A message may come twice; it does not name all of its questions, so it cannot be told from another.
      assert.isAtLeast(told, ids.length + 1)
    })
  )

  it.effect("of a thousand open questions are a thousand requests, four at a time", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      yield* startGate({ channels: [webhook(receiver)] })
      const ids = Array.from({ length: 1_000 }, newQuestion)
      yield* Effect.forEach(ids, ask, { concurrency: 50 })
      yield* waitUntil(() => receiver.requests.length >= ids.length)
      yield* drain
      assert.deepStrictEqual(
        new Set(deliveries(receiver)),
        new Set(ids.map(({ escalationId }) => `${escalationId}.hook.raised`))
      )
      assert.isAtMost(receiver.atOnce(), 4)
    })
  )
})
