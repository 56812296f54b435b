/** The pure parts of telling a browser while no page is open, and its encryption, as tables. */
import { assert, describe, it } from "@effect/vitest"
import { decryptPush, vapidClaims } from "@reprise/testing"
import { Effect, Redacted, Result } from "effect"
import {
  endpointProblem,
  isStillTold,
  type KnownBrowser,
  type PushOwner,
  withBrowser
} from "../src/console/pushSubscription.ts"
import { type Notices, noticeQuestion, type QuestionNotice } from "../src/notify/Notice.ts"
import { longestPushBytes, pushMessage, pushTopic } from "../src/notify/pushMessage.ts"
import { vapidHeader } from "../src/notify/vapid.ts"
import { areKeys, encryptPush } from "../src/work/notify/encryptPush.ts"
import { isPublicAddress } from "../src/work/notify/publicAddress.ts"
import { digestOf, vapidOf } from "../src/work/notify/vapidKey.ts"
import { question, timeAt } from "./fixtures.ts"

const secret = Redacted.make("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
const asked = noticeQuestion(question({ reason: "Which \u202edatabase?" }), timeAt(0))
const raised: QuestionNotice = { _tag: "Raised", question: asked }

/** RFC 8291, appendix A. */
const example = {
  message:
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
  text: "When I grow up, I want to be a watermelon",
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  d: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  auth: "BTBZMqHH6r4Tts7J_aSIgg"
}

const receiverKeys = Effect.promise(async () => {
  const point = Uint8Array.from(Buffer.from(example.p256dh, "base64url"))
  const part = (start: number) => Buffer.from(point.slice(start, start + 32)).toString("base64url")
  const jwk = { kty: "EC", crv: "P-256", x: part(1), y: part(33), d: example.d }
  const curve = { name: "ECDH", namedCurve: "P-256" }
  const privateKey = await globalThis.crypto.subtle.importKey("jwk", jwk, curve, false, ["deriveBits"])
  return { privateKey, publicKey: point, auth: Uint8Array.from(Buffer.from(example.auth, "base64url")) }
})

describe("the address of a browser's push service", () => {
  it.each([
    ["https://fcm.googleapis.com/fcm/send/abc", undefined],
    ["https://updates.push.services.mozilla.com/wpush/v2/x", undefined],
    ["https://web.push.apple.com/x", undefined],
    ["no address", "it is no address"],
    ["http://push.example.org/x", "it does not begin with https://"],
    ["http://127.0.0.1:9000/x", "it does not begin with https://"],
    ["file:///etc/passwd", "it does not begin with https://"],
    ["https://ada:secret@push.example.org/x", "it has a user name or a password"],
    ["https://push.example.org:8443/x", "it names a port"],
    ["https://localhost/x", "its name is none of the public internet"],
    ["https://127.0.0.1/x", "its name is none of the public internet"],
    ["https://2130706433/x", "its name is none of the public internet"],
    ["https://[::1]/x", "its name is none of the public internet"],
    ["https://169.254.169.254/latest", "its name is none of the public internet"],
    ["https://metadata/x", "its name is none of the public internet"],
    ["https://printer.local/x", "its name is none of the public internet"],
    ["https://vault.internal/x", "its name is none of the public internet"]
  ])("%s: %s", (endpoint, problem) => assert.strictEqual(endpointProblem(endpoint), problem))

  it("may be this machine's for tests, and nothing else more", () => {
    assert.isUndefined(endpointProblem("http://127.0.0.1:9000/x", true))
    assert.isDefined(endpointProblem("http://push.example.org/x", true))
  })

  it.each<[string, 4 | 6, boolean]>([
    ["142.250.1.1", 4, true],
    ["10.1.2.3", 4, false],
    ["127.0.0.1", 4, false],
    ["169.254.169.254", 4, false],
    ["172.31.0.1", 4, false],
    ["192.168.1.1", 4, false],
    ["100.64.0.1", 4, false],
    ["0.0.0.0", 4, false],
    ["255.255.255.255", 4, false],
    ["2a00:1450:4001::1", 6, true],
    ["::1", 6, false],
    ["fd00::1", 6, false],
    ["fe80::1", 6, false],
    ["::ffff:127.0.0.1", 6, false],
    ["64:ff9b::7f00:1", 6, false],
    ["2002:7f00:1::", 6, false]
  ])("leads to %s (IPv%s), a server of the public internet: %s", (address, family, isPublic) => {
    assert.strictEqual(isPublicAddress(address, family), isPublic)
  })
})

const token: PushOwner = { _tag: "Token", mark: "m1" }
const user = (name: string): PushOwner => ({ _tag: "User", name })
const browser = (n: number, owner: PushOwner = token): KnownBrowser => ({
  endpoint: `https://push.example.org/${n}`,
  keys: { p256dh: example.p256dh, auth: example.auth },
  owner,
  wantedAt: timeAt(n)
})
const many = (from: number, count: number, owner?: (n: number) => PushOwner) =>
  Array.from({ length: count }, (_, at) => browser(from + at, owner?.(at)))

describe("the browsers that are told", () => {
  const added = (browsers: ReadonlyArray<KnownBrowser>, one: KnownBrowser) =>
    Result.map(withBrowser(browsers, one), (all) => all.map(({ endpoint }) => endpoint.split("/").at(-1)))

  it("have each one place, and ten of one owner: the one that was not heard of for longest goes", () => {
    assert.deepStrictEqual(added([browser(1), browser(2)], browser(1)), Result.succeed(["2", "1"]))
    assert.deepStrictEqual(
      added(many(1, 10), browser(20)),
      Result.succeed(["2", "3", "4", "5", "6", "7", "8", "9", "10", "20"])
    )
    assert.strictEqual(Result.getOrThrow(added(many(1, 10), browser(20, user("ada")))).length, 11)
  })

  it("are a hundred at most", () => {
    const full = many(0, 100, (n) => user(`u${n}`))
    assert.deepStrictEqual(added(full, browser(200, user("another"))), Result.fail("full"))
    assert.isTrue(Result.isSuccess(added(full, browser(200, user("u1")))) === false)
    assert.isTrue(Result.isSuccess(added(full, { ...browser(1, user("u1")) })))
  })

  const proxy = { userHeader: "x-user", answerers: ["ada", "group:on-call"] }
  const day = 24 * 60
  it.each<[string, KnownBrowser, Parameters<typeof isStillTold>[1], number, boolean]>([
    ["by the token that counts", browser(0), { mark: "m1" }, 5, true],
    ["not by an earlier token", browser(0), { mark: "m2" }, 5, false],
    ["not without any token", browser(0), {}, 5, false],
    ["as a user who may answer", browser(0, user("ada")), { mark: "m1", proxy }, 5, true],
    ["as a user whom a group let in", browser(0, user("bob")), { mark: "m1", proxy }, 5, true],
    [
      "not as a user who may answer no more",
      browser(0, user("eve")),
      { proxy: { ...proxy, answerers: ["ada"] } },
      5,
      false
    ],
    ["not as a user without a proxy", browser(0, user("ada")), { mark: "m1" }, 5, false],
    ["not after a month without a page", browser(0), { mark: "m1" }, 31 * day, false]
  ])("stay so %s", (_, known, rules, minutes, told) => {
    assert.strictEqual(isStillTold(known, rules, Date.parse(timeAt(minutes))), told)
  })
})

describe("the message for a browser", () => {
  it.each<[Notices, object]>([
    [
      [raised],
      { kind: "raised", questions: [{ id: "r1-e1", title: "The author needs you", text: "Which \ufffddatabase?" }] }
    ],
    [[{ _tag: "Reminder", question: asked, count: 2 }], { kind: "reminder" }],
    [
      [{ _tag: "Answered", question: asked, choice: "fix", by: "bob", via: "cli" }],
      {
        kind: "closed",
        questions: [{ id: "r1-e1", title: "No longer needed", text: "bob answered 'fix' through cli." }]
      }
    ],
    [
      [{ _tag: "Withdrawn", question: asked, reason: "run-ended" }],
      { kind: "closed", questions: [{ id: "r1-e1", title: "No longer needed", text: "The run has ended." }] }
    ],
    [[{ _tag: "Test", id: "t" }], { kind: "test", questions: [], more: 0 }]
  ])("of %j is %j", (notices, expected) => {
    assert.containSubset(pushMessage(notices), { version: 1, more: 0, ...expected })
  })

  it("names as many questions as fit, and counts the others", () => {
    const long = (n: number): QuestionNotice => ({
      _tag: "Raised",
      question: {
        ...asked,
        escalationId: `${"i".repeat(60)}-${n}` as typeof asked.escalationId,
        reason: '\\"'.repeat(500)
      }
    })
    const [first, ...others] = Array.from({ length: 1_000 }, (_, n) => long(n))
    const message = pushMessage([first ?? raised, ...others])
    assert.strictEqual(message.questions.length + message.more, 1_000)
    assert.isAbove(message.questions.length, 1)
    assert.isAtMost(Buffer.byteLength(JSON.stringify(message)), longestPushBytes)
  })

  it("replaces what is not delivered yet of its question, and of no other", () => {
    const topic = (notices: Notices) => pushTopic(notices, digestOf)
    assert.match(`${topic([raised])}`, /^[\w-]{32}$/)
    assert.strictEqual(topic([{ _tag: "Withdrawn", question: asked, reason: "run-ended" }]), topic([raised]))
    const again = { ...raised, question: { ...asked, raisedAt: timeAt(9) } }
    assert.notStrictEqual(topic([again]), topic([raised]))
    assert.isUndefined(topic([raised, again]))
  })

  it.effect("is encrypted as RFC 8291 says, always as long, and only its browser can read it", () =>
    Effect.gen(function* () {
      const keys = yield* receiverKeys
      const read = (message: Uint8Array) => Effect.promise(() => decryptPush(keys, message))
      assert.strictEqual(yield* read(Buffer.from(example.message, "base64url")), example.text)
      for (const text of ["", "Which colour?", "x".repeat(longestPushBytes)]) {
        const message = encryptPush(text, example)
        assert.lengthOf(message, 4096)
        assert.strictEqual(yield* read(message), text)
      }
    })
  )

  it("cannot be encrypted with keys that are none", () => {
    assert.isTrue(areKeys(example))
    assert.isFalse(areKeys({ ...example, p256dh: "A".repeat(87) }))
  })

  it.effect("shows who sends it, to that server alone and for twelve hours", () =>
    Effect.gen(function* () {
      const vapid = vapidOf(secret, "https://reprise.example.org")
      const header = vapidHeader("https://push.example.org/abc?x=1", vapid, 1_000_000)
      const claims = yield* Effect.promise(() => vapidClaims(header))
      assert.deepStrictEqual(claims, {
        aud: "https://push.example.org",
        exp: 1_000 + 12 * 60 * 60,
        sub: "https://reprise.example.org",
        key: "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
      })
    })
  )
})
