import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeKeys } from "@reprise/deploy-nats/keys"
import { identities, publicKeyOf, seedIn } from "@reprise/nats"
import { Effect } from "effect"

const folder = Effect.acquireRelease(
  Effect.sync(() => join(mkdtempSync(join(tmpdir(), "reprise-keys-")), "keys")),
  (made) => Effect.sync(() => rmSync(join(made, ".."), { recursive: true, force: true }))
)

const contents = (path: string) =>
  Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), "utf8")]))

describe("the keys of a NATS cluster", () => {
  it.effect("are one for each identity, which only their owner can read, and stay as they are", () =>
    Effect.gen(function* () {
      const path = yield* folder
      assert.isTrue(makeKeys(path).every(({ outcome }) => outcome === "made"))
      const made = contents(path)
      assert.includeMembers(
        Object.keys(made),
        [...identities, "system"].map((name) => `${name}.nk`)
      )
      for (const name of Object.keys(made)) assert.strictEqual(statSync(join(path, name)).mode & 0o777, 0o600, name)
      assert.strictEqual(statSync(path).mode & 0o777, 0o700)
      assert.isTrue(makeKeys(path).every(({ outcome }) => outcome === "kept"))
      assert.deepStrictEqual(contents(path), made)
    })
  )

  it.effect("are replaced one by one: a seed that was removed is made again, and the public keys follow", () =>
    Effect.gen(function* () {
      const path = yield* folder
      makeKeys(path)
      const before = contents(path)
      rmSync(join(path, "gate.nk"))
      const again = makeKeys(path).filter(({ outcome }) => outcome === "made")
      assert.deepStrictEqual(
        again.map((one) => one.path),
        [join(path, "gate.nk"), join(path, "public.env")]
      )
      const after = contents(path)
      const seed = seedIn(after["gate.nk"] ?? "") ?? assert.fail("no seed")
      assert.include(after["public.env"], `REPRISE_NKEY_GATE=${publicKeyOf(seed)}\n`)
      assert.notStrictEqual(after["gate.nk"], before["gate.nk"])
      assert.strictEqual(after["reviewer.nk"], before["reviewer.nk"])
    })
  )
})
