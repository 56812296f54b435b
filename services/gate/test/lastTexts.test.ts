import { assert, describe, it } from "@effect/vitest"
import { makeLastTexts } from "../src/console/lastTexts.ts"

const kept = (most: number, mostCharacters: number, texts: ReadonlyArray<string>) => {
  const last = makeLastTexts(most, mostCharacters)
  for (const text of texts) last.add(text)
  return last.all()
}

describe("the last texts of many", () => {
  it.each([
    ["all of few", 3, 100, ["a", "b"], ["a", "b"]],
    ["so many", 2, 100, ["a", "b", "c", "d", "e", "f", "g"], ["f", "g"]],
    ["so many characters", 9, 5, ["aaa", "bb", "cc", "d"], ["bb", "cc", "d"]],
    ["the newest one, whatever its length", 9, 5, ["a", "bbbbbbbbb"], ["bbbbbbbbb"]],
    ["none of none", 9, 5, [], []]
  ])("are %s", (_, most, mostCharacters, texts, expected) =>
    assert.deepStrictEqual(kept(most, mostCharacters, texts), expected)
  )
})
