/** Who is let in by the embedded server, and who is not. */
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Credentials, connectionTo, Nats, newSeed } from "@reprise/nats"
import { Effect, Redacted } from "effect"
import { everybody } from "./attempts.ts"
import { embeddedServer } from "./embeddedServer.ts"

const strangers: Readonly<Record<string, Credentials>> = {
  "without a name": { _tag: "Anonymous" },
  "with the name of a person and a guess": {
    _tag: "UserPassword",
    user: "reprise",
    password: Redacted.make("guess")
  },
  "with a key that the server does not know": { _tag: "Seed", seed: newSeed() }
}

describe("the embedded server", () => {
  for (const [who, credentials] of Object.entries(strangers)) {
    it.live(`refuses another user of the machine ${who}`, () =>
      Effect.gen(function* () {
        const { endpoint } = yield* embeddedServer()
        const refused = yield* Effect.flip(Nats.make({ url: endpoint.url, name: "stranger", credentials }))
        assert.strictEqual(refused._tag, "BrokerRefused")
      })
    )
  }

  it.live("takes nobody for a service or the operator who knows endpoint.json and another secret", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* embeddedServer()
      for (const identity of everybody.filter((one) => one !== "person")) {
        const options = { name: "guest", identity, secret: Redacted.make("of another machine") }
        const refused = yield* Effect.flip(Nats.make(connectionTo(endpoint, options)))
        assert.strictEqual(refused._tag, "BrokerRefused", identity)
      }
    })
  )

  it.live("takes whoever knows endpoint.json and no secret for a person, whatever they say", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* embeddedServer()
      const { js } = yield* Nats.make(connectionTo(endpoint, { name: "guest", identity: "operator" }))
      const published = yield* Effect.tryPromise(() => js.publish("reprise.journal.run.r1", "forged")).pipe(Effect.flip)
      assert.match(String(published.cause), /ermissions [Vv]iolation/)
    })
  )

  it.live("keeps public keys in its configuration, and no secret in any file of the state", () =>
    Effect.gen(function* () {
      const { directory } = yield* embeddedServer()
      const texts = ["endpoint.json", "nats/server.conf", "nats/server.log"].map((name) => {
        assert.strictEqual(statSync(join(directory, name)).mode & 0o777, 0o600, name)
        return readFileSync(join(directory, name), "utf8")
      })
      assert.strictEqual((texts.join("").match(/^REPRISE_NKEY_\w+: "U[A-Z2-7]{55}"$/gm) ?? []).length, 6)
      for (const text of texts) {
        assert.notMatch(text, /\bSU[A-Z2-7]{56}\b/)
        assert.notInclude(text, "of this machine")
      }
    })
  )
})
