import { assert, describe, it } from "@effect/vitest"
import { type Connected, surplus } from "../src/console/connections.ts"

interface Named extends Connected {
  readonly name: string
}

/** `ada:2` is the connection of Ada that was used as the second; `!` has an answer under way, `?` has not signed in. */
const read = (text: string): ReadonlyArray<Named> =>
  text.split(" ").map((name) => ({
    name,
    client: name.split(":")[0] ?? "",
    usedAt: Number(/\d+/.exec(name)?.[0]),
    isSignedIn: !name.endsWith("?"),
    isUnderWay: name.includes("!")
  }))

const ending = (text: string, room: { readonly signedIn: number; readonly signedOut: number }) =>
  surplus(read(text), room)
    .map(({ name }) => name)
    .join(" ")

const room = { signedIn: 3, signedOut: 2 }

describe("which connections end", () => {
  it.each([
    ["none does while there is room", "ada:1 ada:2 ada:3 x:4? x:5?", ""],
    ["the one that was used least recently", "ada:2 ada:1 ada:3 ada:4", "ada:1"],
    ["that of whoever has the most, however old the other connections are", "bob:1 ada:2 ada:3 ada:4", "ada:2"],
    ["so many as are too many", "ada:1 ada:2 bob:3 ada:4 ada:5", "ada:1 ada:2"],
    ["of the largest each time", "ada:1 ada:2 ada:3 bob:4 bob:5 bob:6", "ada:1 bob:4 ada:2"],
    ["the next older when an answer is under way", "ada:1! ada:2 ada:3 ada:4", "ada:2"],
    ["another's when the largest has only answers under way", "ada:1! ada:2! ada:3! bob:4", "bob:4"],
    ["none with an answer under way, even when there is no other", "ada:1! ada:2! ada:3! ada:4!", ""],
    ["nobody's who has signed in, for strangers", "ada:1 x:2? x:3? y:4?", "x:2?"],
    ["no stranger's, for those who have signed in", "x:1? ada:2 ada:3 ada:4 ada:5", "ada:2"]
  ])("%s", (_, open, expected) => assert.strictEqual(ending(open, room), expected))

  it("leaves one person alone beside 1 030 of another, and ends only those that are too many", () => {
    const flood = Array.from({ length: 1_030 }, (_, n) => `mallory:${n + 2}`).join(" ")
    const ended = ending(`ada:1 ${flood}`, { signedIn: 768, signedOut: 256 }).split(" ")
    assert.lengthOf(ended, 1_031 - 768)
    assert.notInclude(ended, "ada:1")
    assert.deepStrictEqual(ended.slice(0, 2), ["mallory:2", "mallory:3"])
  })
})
