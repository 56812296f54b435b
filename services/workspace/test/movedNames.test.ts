import { assert, describe, it } from "@effect/vitest"
import { movedOf, namesOf } from "../src/work/git/movedNames.ts"

const names = (record: Readonly<Record<string, string>>) => new Map(Object.entries(record))

/** Each ref with its short names, all for the same object. */
const standing = (refs: Readonly<Record<string, string>>) =>
  new Map(Object.entries(refs).flatMap(([ref, hash]) => namesOf(ref).map((name) => [name, hash] as const)))

describe("the names of a ref", () => {
  it.each([
    ["refs/heads/main", ["refs/heads/main", "heads/main", "main"]],
    ["refs/tags/v1/a", ["refs/tags/v1/a", "tags/v1/a", "v1/a"]],
    ["refs/remotes/origin/main", ["refs/remotes/origin/main", "remotes/origin/main", "origin/main"]],
    ["refs/remotes/origin/HEAD", ["refs/remotes/origin/HEAD", "remotes/origin/HEAD", "origin/HEAD", "origin"]]
  ])("of %s are those by which git finds it", (ref, expected) => assert.deepStrictEqual(namesOf(ref), expected))
})

describe("a name that stands for another object than before", () => {
  const before = standing({ "refs/remotes/origin/main": "a", "refs/heads/topic": "b" })
  const told = (now: ReadonlyMap<string, string>, known = before) =>
    movedOf(known, now).map(({ isShadowed, name, now: found }) => [name, found, isShadowed])

  it.each<[string, ReadonlyMap<string, string>, ReadonlyArray<unknown>]>([
    ["is none if all stayed", before, []],
    [
      "is told once for a ref that moved",
      standing({ "refs/remotes/origin/main": "c", "refs/heads/topic": "b" }),
      [["origin/main", "c", false]]
    ],
    ["is told of a ref that is gone", standing({ "refs/remotes/origin/main": "a" }), [["topic", undefined, false]]],
    ["is shadowed where its ref stayed", new Map([...before, ["origin/main", "c"]]), [["origin/main", "c", true]]],
    [
      "is shadowed where its ref is gone, and another thing has the name",
      new Map([...standing({ "refs/heads/topic": "b" }), ["origin/main", "c"]]),
      [["origin/main", "c", true]]
    ]
  ])("%s", (_, now, expected) => assert.deepStrictEqual(told(now), expected))

  it("is not shadowed by a tag that had the name before", () => {
    const both = names({ "refs/tags/x": "a", "tags/x": "a", x: "a", "refs/heads/x": "a", "heads/x": "a" })
    const now = names({ "refs/tags/x": "a", "tags/x": "a", x: "a" })
    assert.deepStrictEqual(told(now, both), [["x", undefined, false]])
  })
})
