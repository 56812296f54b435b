import { assert, describe, it } from "@effect/vitest"
import { failureOf, kindOfText, type OpenCodeError } from "../src/opencode/turn/failures.ts"

const api = (
  statusCode: number | undefined,
  message: string,
  responseHeaders?: Record<string, string>
): OpenCodeError => ({
  name: "APIError",
  data: {
    message,
    isRetryable: false,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(responseHeaders === undefined ? {} : { responseHeaders })
  }
})

describe("failureOf", () => {
  it.each([
    [api(401, "bad key"), "unauthorized"],
    [api(403, "forbidden"), "unauthorized"],
    [api(402, "pay"), "out_of_credits"],
    [api(429, "You exceeded your current quota, insufficient_quota"), "out_of_credits"],
    [api(400, "Your credit balance is too low"), "out_of_credits"],
    [api(429, "slow down"), "rate_limited"],
    [api(529, "Overloaded"), "rate_limited"],
    [api(undefined, "connect ECONNREFUSED 10.0.0.1:443"), "no_internet"],
    [api(undefined, "Unable to connect. Is the computer able to access the url?"), "no_internet"],
    [api(404, "no such model"), "other"],
    [{ name: "ProviderAuthError", data: { providerID: "p", message: "log in" } }, "unauthorized"],
    [{ name: "MessageAbortedError", data: { message: "Aborted" } }, "aborted"],
    [{ name: "ContextOverflowError", data: { message: "too long" } }, "context-overflow"],
    [{ name: "UnknownError", data: { message: "no idea" } }, "other"]
  ] satisfies ReadonlyArray<readonly [OpenCodeError, string]>)("is by code where there is one: %o", (error, kind) => {
    assert.strictEqual(failureOf(error).kind, kind)
  })

  it("gives the vendor's retry time in milliseconds, from either header", () => {
    assert.strictEqual(failureOf(api(429, "", { "retry-after": "7" })).retryAfterMs, 7000)
    assert.strictEqual(failureOf(api(429, "", { "retry-after-ms": "1500", "retry-after": "2" })).retryAfterMs, 1500)
    assert.isUndefined(failureOf(api(429, "", { "retry-after": "tomorrow" })).retryAfterMs)
  })

  it("calls a session unusable only when its conversation is too long", () => {
    assert.isFalse(failureOf({ name: "ContextOverflowError", data: { message: "" } }).sessionUsable)
    assert.isTrue(failureOf(api(401, "")).sessionUsable)
  })
})

describe("kindOfText", () => {
  it.each([
    ["Connection reset by server", "no_internet"],
    ["Too Many Requests", "rate_limited"],
    ["Provider is overloaded", "rate_limited"],
    ["something else", "other"]
  ])("reads %s", (message, kind) => {
    assert.strictEqual(kindOfText(message), kind)
  })
})
