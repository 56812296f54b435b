import { assert, describe, it } from "@effect/vitest"
import { isCommitName, quoted } from "../src/work/git/commitNames.ts"
import { dirtyPaths } from "../src/work/git/gitOutput.ts"

describe("the output of git status", () => {
  it.each([
    ["", []],
    [" M a.ts\0?? b c.ts\0", ["a.ts", "b c.ts"]],
    ["R  new.ts\0old.ts\0 M x\0", ["new.ts", "old.ts", "x"]],
    ["C  copy.ts\0original.ts\0 M x\0", ["copy.ts", "original.ts", "x"]],
    ["?? dir/\0", ["dir/"]],
    ["A  with\nline\0", ["with\nline"]]
  ])("has the dirty paths of %j", (text, paths) => {
    assert.deepStrictEqual(dirtyPaths(text), paths)
  })
})

describe("the name of a commit", () => {
  it.each(["abcd", "ABCDEF12", "a".repeat(40), "0".repeat(64)])("may be the hash %s", (name) => {
    assert.isTrue(isCommitName(name))
  })
  it.each([
    "",
    "abc",
    "a".repeat(65),
    "main",
    "HEAD",
    "HEAD~1",
    "a..b",
    "-abcd",
    "--all",
    "abcd\n",
    "abcd efgh",
    "ghij",
    "@"
  ])("may not be %j", (name) => {
    assert.isFalse(isCommitName(name))
  })
  it("is quoted on one short printable line, even if it is hostile", () => {
    assert.strictEqual(quoted("a\u001b[2J\nb\u2028"), "'a?[2J?b?'")
    assert.isBelow(quoted("x".repeat(5_000)).length, 90)
  })
})
