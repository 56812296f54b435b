/** What the lock file lets `npm ci` install. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { repository } from "../src/sources.ts"

const read = (name: string) => JSON.parse(readFileSync(join(repository, name), "utf8"))

describe("the lock file", () => {
  it("lets no install have the large programs that the repository does not need", () => {
    const { notInstalled }: { notInstalled: ReadonlyArray<string> } = read("package.json")
    const { packages }: { packages: Record<string, { readonly os?: ReadonlyArray<string> }> } =
      read("package-lock.json")
    for (const name of notInstalled) {
      const places = Object.keys(packages).filter((place) => place.startsWith(`node_modules/${name}`))
      assert.isNotEmpty(places, `nothing is called ${name}`)
      for (const place of places) assert.deepStrictEqual(packages[place]?.os, ["none"], `${place}: see npm run lock`)
    }
  })
})
