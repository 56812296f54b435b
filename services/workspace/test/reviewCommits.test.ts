import { assert, describe, it } from "@effect/vitest"
import { leadsTo } from "../src/work/phase/reviewCommits.ts"

const one = (commit: string, ...parents: ReadonlyArray<string>) => ({ commit, parents })

describe("the commits after an approved one", () => {
  it.each([
    ["none", [], true],
    ["one on it", [one("a", "ok")], true],
    ["two, one on the other", [one("b", "a"), one("a", "ok")], true],
    ["a merge of the approved commit and another", [one("m", "ok", "main")], false],
    ["a merge on the way", [one("b", "m"), one("m", "ok", "main")], false],
    ["one on another commit", [one("a", "other")], false],
    ["one without a parent", [one("a")], false],
    ["two beside each other", [one("b", "ok"), one("a", "ok")], false]
  ] as const)("lead to it or not: %s", (_, commits, expected) => {
    assert.strictEqual(leadsTo("ok", commits), expected)
  })
})
