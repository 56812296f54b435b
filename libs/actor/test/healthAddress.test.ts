import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Readiness } from "../src/health/Readiness.ts"
import { HealthAddressUnusable, readHealthAddress, serveHealth } from "../src/health/serveHealth.ts"

describe("the address of the health answers", () => {
  for (const [text, host, port] of [
    ["127.0.0.1:8080", "127.0.0.1", 8080],
    ["[::]:8080", "::", 8080],
    ["localhost:0", "localhost", 0]
  ] as const) {
    it(`is read from ${text}`, () => {
      assert.deepStrictEqual(Option.getOrUndefined(readHealthAddress(text)), { host, port })
    })
  }

  for (const text of ["", "8080", ":8080", "localhost", "localhost:", "::1:8080", "a b:1", "127.0.0.1:70000", "h:-1"]) {
    it(`is not read from '${text}'`, () => {
      assert.isTrue(Option.isNone(readHealthAddress(text)))
    })
  }

  it.live("is refused in a sentence when another program has it", () =>
    Effect.gen(function* () {
      const readiness = yield* Readiness
      const port = yield* serveHealth({ host: "127.0.0.1", port: 0 }, readiness)
      const second = yield* Effect.flip(serveHealth({ host: "127.0.0.1", port }, readiness))
      assert.instanceOf(second, HealthAddressUnusable)
      assert.match(second.message, /address already in use.*free port/)
    }).pipe(Effect.scoped, Effect.provide(Readiness.layer))
  )
})
