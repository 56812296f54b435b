import { assert, describe, it } from "@effect/vitest"
import { atRemote, readRemoteRefs } from "../src/work/remote/remoteRefs.ts"

const [a, b, c, d] = ["a".repeat(40), "b".repeat(40), "c".repeat(40), "d".repeat(40)] as const

const listed = [
  "ref: refs/heads/main\tHEAD",
  `${a}\tHEAD`,
  `${a}\trefs/heads/main`,
  `${b}\trefs/heads/reprise/plan`,
  `${b}\trefs/heads/HEAD`,
  `${c}\trefs/tags/v1`,
  `${d}\trefs/tags/v1^{}`,
  `${c}\trefs/tags/main`,
  `${c}\trefs/remotes/x/HEAD`,
  "not a line",
  ""
].join("\n")

describe("what a remote says that it has", () => {
  it("is its default branch, its branches, and what its tags stand for in the end", () => {
    const { branches, tags, ...rest } = readRemoteRefs(listed)
    assert.deepStrictEqual(rest, { head: a, defaultBranch: "main" })
    assert.deepStrictEqual(Object.fromEntries(branches), { main: a, "reprise/plan": b, HEAD: b })
    assert.deepStrictEqual(Object.fromEntries(tags), { v1: d, main: c })
  })

  it.each([
    ["the default branch", undefined, a],
    ["a branch before a tag", "main", a],
    ["a tag", "v1", d],
    ["nothing", "v2", undefined]
  ])("has for a name %s", (_, ref, hash) => assert.strictEqual(atRemote(readRemoteRefs(listed), ref), hash))

  it("is nothing where it has nothing", () => assert.isUndefined(atRemote(readRemoteRefs(""), undefined)))
})
