import { assert, describe, it } from "@effect/vitest"
import { compare, configurations } from "@reprise/deploy-nats/configurations"

describe("the table of permissions", () => {
  for (const configuration of configurations) {
    it(`is what ${configuration.path} says; 'npm run accounts' writes it there`, () => {
      const { expected, found } = compare(configuration)
      assert.strictEqual(found, expected)
    })
  }
})
