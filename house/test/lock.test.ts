/** What the lock file lets `npm ci` install. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { repository } from "../src/sources.ts"

interface Locked {
  readonly os?: ReadonlyArray<string>
  readonly peerDependenciesMeta?: object
}

const read = (name: string) => JSON.parse(readFileSync(join(repository, name), "utf8"))

describe("the lock file", () => {
  it("has no tool that only checks the code, and not Claude", () => {
    const { packages }: { packages: Record<string, Locked> } = read("package-lock.json")
    const elsewhere = ["house/tools", "test/claude"].flatMap((folder) =>
      Object.keys(read(`${folder}/package.json`).dependencies)
    )
    assert.include(elsewhere, "typescript")
    assert.deepStrictEqual(
      elsewhere.filter((name) => `node_modules/${name}` in packages),
      []
    )
  })

  it("lets no install have the large programs that the repository does not need", () => {
    const { notInstalled }: { notInstalled: ReadonlyArray<string> } = read("package.json")
    const { packages }: { packages: Record<string, Locked> } = read("package-lock.json")
    for (const name of notInstalled) {
      const places = Object.keys(packages).filter((place) => place.startsWith(`node_modules/${name}`))
      const peers = Object.values(packages).filter(({ peerDependenciesMeta }) => name in (peerDependenciesMeta ?? {}))
      assert.isNotEmpty([...places, ...peers], `nothing is called ${name}, or asks for it`)
      for (const place of places) assert.deepStrictEqual(packages[place]?.os, ["none"], `${place}: see npm run lock`)
    }
  })
})
