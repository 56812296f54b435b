// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { startReceiver } from "@reprise/testing"
import { Effect } from "effect"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const secret = "a secret that no output may hold"

const configFor = (url: string, more = ""): string => `permissions = "all"

[web]
origin = "https://reprise.example.org"

[notify.channels.hook]
preset = "webhook"
url = "${url}/hook"
secret = "env:HOOK_SECRET"
${more}`

const environment = () => ({ HOOK_SECRET: secret })

const kindsOf = (requests: ReadonlyArray<{ readonly body: string }>) =>
  requests.map(({ body }) => (JSON.parse(body) as { readonly kind: string }).kind)

describe("notifications", () => {
  it.live("tell a webhook of a run's question, and of its answer, and hold no secret anywhere", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url), environment })
      const up = yield* world.start("up")
      yield* up.waitFor(/Serving/)
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
      yield* waitUntil(Effect.sync(() => (receiver.requests.length > 0 ? true : undefined)))
      const [question] = yield* world.questions
      const [raised] = receiver.requests.map(({ body }) => JSON.parse(body))
      assert.containSubset(raised, {
        kind: "raised",
        question: { escalationId: question?.escalationId, reason: question?.reason },
        link: `https://reprise.example.org/questions/${question?.escalationId}`
      })
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "Blue")
      yield* up.waitFor(/Run completed/)
      yield* waitUntil(Effect.sync(() => (receiver.requests.length > 1 ? true : undefined)))
      assert.deepStrictEqual(kindsOf(receiver.requests), ["raised", "answered"])
      const log = yield* world.reprise("logs", "latest")
      assert.notInclude(`${log.stdout}${up.stdout}${up.stderr}`, secret)
    })
  )

  it.live("are sent before a run that nobody watches ends at its question", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver()
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url), environment })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 4)
      assert.deepStrictEqual(kindsOf(receiver.requests), ["raised"])
      const [question] = yield* world.questions
      assert.notProperty(question, "notNotified")
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "c", "--guidance", "Blue")
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--no-input")).code, 0)
      assert.deepStrictEqual(kindsOf(receiver.requests), ["raised", "answered"])
    })
  )

  it.live("that are refused hold up nothing, and the doctor says which channel was not told of which question", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(() => ({ status: 404 }))
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url), environment })
      const run = yield* world.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(run.code, 4, run.stderr)
      const [question] = yield* world.questions
      assert.deepStrictEqual(question?.notNotified, ["hook"])
      const expected = `Telling channel 'hook' that question ${question?.escalationId} was raised failed: it answered 404`
      const doctor = yield* world.reprise("doctor")
      assert.include(doctor.stdout.replace(/[\s│]+/g, " "), expected)
      const letters = yield* world.reprise("dead-letters", "show", "1")
      assert.include(letters.stdout, expected)
      assert.notInclude(`${doctor.stdout}${letters.stdout}`, receiver.url)
      assert.lengthOf(new Set(receiver.requests.map(({ headers }) => headers["reprise-delivery"])), 1)
    })
  )

  it.live("are tried by 'notify test', which says what happened and names what is missing", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver(({ path }) => ({ status: path === "/hook" ? 200 : 403 }))
      const more = `\n[notify.channels.phone]\npreset = "ntfy"\nurl = "${receiver.url}/topic"\n`
      const world = yield* makeWorld({ ...oneQuestion, config: configFor(receiver.url, more), environment })
      const both = yield* world.reprise("notify", "test")
      assert.strictEqual(both.code, 3, both.stderr)
      assert.match(both.stdout, /hook.*webhook.*delivered.*\d+ ms/)
      assert.match(both.stdout, /phone.*ntfy.*not delivered: it answered 403/)
      const one = yield* world.reprise("notify", "test", "hook", "--json")
      assert.strictEqual(one.code, 0, one.stderr)
      assert.containSubset(JSON.parse(one.stdout), {
        ok: true,
        data: [{ channel: "hook", preset: "webhook", delivered: true }]
      })
      assert.deepStrictEqual(kindsOf(receiver.requests.filter(({ path }) => path === "/hook")), ["test", "test"])
      const unknown = yield* world.reprise("notify", "test", "pigeon")
      assert.strictEqual(unknown.code, 2)
      assert.match(unknown.stderr, /no channel 'pigeon'.*\n.*hook, phone/)

      const withoutSecret = yield* world.repriseIn({ environment: { HOOK_SECRET: "" } }, "run", "PLAN.md", "--no-input")
      assert.strictEqual(withoutSecret.code, 3, withoutSecret.stdout)
      assert.match(withoutSecret.stderr, /secret of notification channel 'hook' is missing: HOOK_SECRET is not set/)
      const explained = yield* world.reprise("config", "explain")
      assert.match(explained.stdout.replace(/\s+/g, " "), /notify\.channels/)
    })
  )
})
