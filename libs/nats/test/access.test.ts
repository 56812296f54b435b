import { assert, describe, it } from "@effect/vitest"
import { nkeys } from "@nats-io/transport-node"
import { Host } from "@reprise/protocol"
import { Redacted } from "effect"
import { accountsConfig } from "../src/access/accountsConfig.ts"
import { identities, inboxOf } from "../src/access/Identity.ts"
import { authenticatorOf, derivedSeed, newSeed, publicKeyOf, seedIn, seedOf } from "../src/access/nkeys.ts"
import { permissionsOf } from "../src/access/permissions.ts"

const tenant = { prefix: "acme", hosts: [Host.make("local")] }
const secret = Redacted.make("of this machine")

describe("the permissions", () => {
  it("of every identity stay within its tenant", () => {
    for (const identity of identities) {
      const { publish, subscribe } = permissionsOf(identity, tenant)
      for (const subject of [...publish.allow, ...subscribe.allow]) {
        assert.match(subject, /^(acme\.|\$KV\.acme_|\$O\.acme_|\$JS\.|\$SRV\.|_INBOX)/)
        assert.notMatch(subject, /reprise/i)
      }
    }
  })

  it("let nobody but the operator remove or change streams, or make consumers without naming them", () => {
    const reserved =
      /STREAM\.(CREATE|UPDATE|DELETE|MSG\.DELETE)|STREAM\.PURGE\.(?!OBJ_)|^\$JS\.API\.(>|\*)|CONSUMER\.CREATE\.[^.]+$/
    for (const identity of identities) {
      const found = permissionsOf(identity, tenant).publish.allow.filter((subject) => reserved.test(subject))
      assert.deepStrictEqual(found, identity === "operator" ? ["$JS.API.>"] : [])
    }
  })

  it("give everyone an inbox that no other can be taken for", () => {
    const inboxes = identities.map((identity) => `${inboxOf(identity)}.>`)
    assert.strictEqual(new Set(inboxes).size, identities.length)
    for (const identity of identities) {
      const heard = permissionsOf(identity, tenant).subscribe.allow.filter((subject) => subject.startsWith("_INBOX"))
      assert.deepStrictEqual(heard, [`${inboxOf(identity)}.>`])
    }
  })
})

describe("the accounts of a configuration", () => {
  it("have a public key for each service, and hold no secret", () => {
    const text = accountsConfig(tenant, "password")
    assert.strictEqual((text.match(/nkey: \$REPRISE_NKEY_/g) ?? []).length, identities.length - 1)
    assert.strictEqual((text.match(/password: \$REPRISE_(PERSON|SYSTEM)_PASSWORD/g) ?? []).length, 2)
    assert.notInclude(accountsConfig(tenant, "nkey"), "password")
  })
})

describe("a seed", () => {
  it("is made from random bytes, and gives a public key", () => {
    const seed = seedOf(new Uint8Array(32).fill(7))
    assert.match(Redacted.value(seed), /^SU[A-Z2-7]{56}$/)
    assert.match(publicKeyOf(seed), /^U[A-Z2-7]{55}$/)
    assert.strictEqual(publicKeyOf(seed), publicKeyOf(seedOf(new Uint8Array(32).fill(7))))
  })

  it("that is derived is another for each identity, secret and salt", () => {
    const seeds = [
      ...identities.map((identity) => derivedSeed(secret, "a", identity)),
      derivedSeed(secret, "b", "gate"),
      derivedSeed(Redacted.make("another"), "a", "gate")
    ].map(Redacted.value)
    assert.strictEqual(new Set(seeds).size, seeds.length)
    assert.strictEqual(Redacted.value(derivedSeed(secret, "a", "gate")), seeds[identities.indexOf("gate")])
  })

  it("is the one of NATS's own tools, and signs as they do", () => {
    const seed = newSeed()
    const pair = nkeys.fromSeed(new TextEncoder().encode(Redacted.value(seed)))
    assert.strictEqual(publicKeyOf(seed), pair.getPublicKey())
    const challenge = "of the server"
    const login = Object(authenticatorOf(seed)(challenge))
    assert.strictEqual(login.nkey, pair.getPublicKey())
    assert.isTrue(pair.verify(new TextEncoder().encode(challenge), Buffer.from(login.sig, "base64url")))
  })

  it("is found in a file as the tools of NATS write it, and nothing else is", () => {
    const seed = newSeed()
    const file = `-----BEGIN USER NKEY SEED-----\n${Redacted.value(seed)}\n------END USER NKEY SEED------\n`
    assert.strictEqual(Redacted.value(seedIn(file) ?? assert.fail("no seed")), Redacted.value(seed))
    assert.isUndefined(seedIn("SUSHORT\n"))
    assert.isUndefined(seedIn(publicKeyOf(seed)))
    assert.isUndefined(seedIn(Redacted.value(seed).replace(/.{4}$/, "AAAA")))
  })
})
