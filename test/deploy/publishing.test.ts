import { assert, describe, it } from "@effect/vitest"
import { obstacles, type Release } from "@reprise/package/readiness"

const ready: Release = {
  version: "1.2.0",
  changedFiles: [],
  tags: ["v1.2.0"],
  changelog: "# Changelog\n\n## 1.2.0 (2026-12-01)\n",
  published: ["1.1.0"]
}

describe("a release of the package", () => {
  it("may go out from a clean, tagged commit with its own section in the changelog", () => {
    assert.deepStrictEqual(obstacles(ready), [])
  })

  it.each<[string, Partial<Release>, RegExp]>([
    ["another tag", { tags: ["v1.1.0"] }, /no tag v1\.2\.0/],
    ["changed files", { changedFiles: [" M cli/src/main.ts"] }, /1 files differ .*main\.ts/],
    ["an old changelog", { changelog: "# Changelog\n\n## Unreleased\n\n## 1.1.0\n" }, /no section '## 1\.2\.0'/],
    ["a version that is out", { published: ["1.1.0", "1.2.0"] }, /1\.2\.0 is published already/],
    ["what is not a version", { version: "next" }, /'next' is not a version/]
  ])("is held back by %s, with what to do", (_what, change, sentence) => {
    assert.match(obstacles({ ...ready, ...change }).join("\n"), sentence)
  })
})
