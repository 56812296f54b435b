import { assert, describe, it } from "@effect/vitest"
import { isCommitName, quoted } from "../src/work/git/commitNames.ts"
import { readSubject } from "../src/work/git/gitOutput.ts"

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

describe("the subject of a commit", () => {
  it.each([
    ["fix: a thing", "fix: a thing"],
    ["", ""],
    ["x".repeat(100_000), `${"x".repeat(500)}…`]
  ])("is as long as anybody reads: %s", (written, shown) => {
    assert.deepStrictEqual(readSubject(`abcd ${written}`), { commit: "abcd", subject: shown })
  })
})
