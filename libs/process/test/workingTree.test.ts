import { assert, describe, it } from "@effect/vitest"
import { isOwnFile, isOwnName, readStatus } from "../src/index.ts"

describe("the output of git status", () => {
  it.each([
    ["", []],
    [" M a.ts\0?? b c.ts\0", ["a.ts", "b c.ts"]],
    ["R  new.ts\0old.ts\0 M x\0", ["new.ts", "old.ts", "x"]],
    ["C  copy.ts\0original.ts\0 M x\0", ["copy.ts", "original.ts", "x"]],
    ["?? dir/\0", ["dir/"]],
    ["A  with\nline\0", ["with\nline"]]
  ])("has the paths of %j", (text, paths) => {
    assert.deepStrictEqual(
      readStatus(text).map(({ path }) => path),
      paths
    )
  })

  it("has the code of each path", () => {
    assert.deepStrictEqual(readStatus("?? new\0MM both\0"), [
      { code: "??", path: "new" },
      { code: "MM", path: "both" }
    ])
  })
})

describe("files of Reprise", () => {
  it.each([
    [".reprise/logs/x", true],
    [".planning/phases/01-a/.continuation-state.json", true],
    [".planning/phases/01-a/SUMMARY.md", true],
    [".planning/phases/01-a/SUMMARY.md.tmp", true],
    [".planning/phases/01-a/deep/SUMMARY.md", false],
    [".planning/SUMMARY.md", false],
    [".planning/notes.md", false],
    ["SUMMARY.md", false],
    [".repriseful/x", false],
    ["src/.reprise/x", false],
    [".continuation-state.json", false]
  ])("include %s: %s", (path, own) => {
    assert.strictEqual(isOwnName(path), own)
    assert.strictEqual(isOwnFile({ code: "??", path }), own)
  })

  it.each([" M", "A ", "D ", "R "])("are none of those that git tracks, as with the code %j", (code) => {
    assert.isFalse(isOwnFile({ code, path: ".reprise/check.sh" }))
  })
})
