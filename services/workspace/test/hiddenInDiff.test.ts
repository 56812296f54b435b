import { assert, describe, it } from "@effect/vitest"
import { readChangedMerges } from "../src/work/git/changedMerges.ts"
import { readMovedLinks, readUrls } from "../src/work/git/movedSubmodules.ts"
import { noteOnMerges, noteOnSubmodules } from "../src/work/verify/hiddenInDiff.ts"

const [zero, one, two] = ["0".repeat(40), "1".repeat(40), "2".repeat(40)]

describe("submodules that work moves", () => {
  it.each([
    ["a new one", `:000000 160000 ${zero} ${one} A\0lib\0`, [{ path: "lib", before: undefined, now: one }]],
    ["one that was a file", `:100644 160000 ${zero} ${one} T\0lib\0`, [{ path: "lib", before: undefined, now: one }]],
    ["one at another commit", `:160000 160000 ${one} ${two} M\0lib\0`, [{ path: "lib", before: one, now: two }]],
    ["none: one that is removed", `:160000 000000 ${one} ${zero} D\0lib\0`, []],
    ["none: a file with the name of a record", `:000000 100644 ${zero} ${one} A\0:000000 160000 ${zero} ${two} A\0`, []]
  ] as const)("are read from git's list of changes: %s", (_, raw, expected) => {
    assert.deepStrictEqual(readMovedLinks(raw), expected)
  })

  it.each([
    ["a path with its url", "submodule.a.path\nlib\0submodule.a.url\nhttps://x/a\0", [["lib", "https://x/a"]]],
    ["a path that ends in a slash", "submodule.a.path\nlib/\0submodule.a.url\nu\0", [["lib", "u"]]],
    ["no url", "submodule.a.path\nlib\0", []],
    ["an empty url", "submodule.a.path\nlib\0submodule.a.url\n\0", []],
    ["the url of another one", "submodule.a.path\nlib\0submodule.b.url\nu\0", []]
  ] as const)("have the urls that .gitmodules names: %s", (_, listed, expected) => {
    assert.deepEqual(readUrls(listed), new Map(expected))
  })

  it("are told with their commits, and with a url without its login", () => {
    const note = noteOnSubmodules([
      { path: "lib", before: one, now: two, url: "https://ada:secret@x/a" },
      { path: "new", before: undefined, now: one, url: undefined }
    ])
    assert.include(note, "'lib' was 111111111111 and is 222222222222, of 'https://…@x/a'")
    assert.include(note, "'new' is new at 111111111111, without a url")
    assert.isUndefined(noteOnSubmodules([]))
  })
})

describe("merges that git would make otherwise", () => {
  it.each([
    ["no merge", "", []],
    ["one that is as git makes it", `/${one}\0`, []],
    ["one of two", `/${one}\0/${two}\0\na.js\0b.js\0`, [{ commit: two, paths: ["a.js", "b.js"] }]],
    ["a file with the name of a commit", `/${one}\0\n${two}\0`, [{ commit: one, paths: [two] }]]
  ] as const)("are read from what git shows of them: %s", (_, listed, expected) => {
    assert.deepStrictEqual(readChangedMerges(listed), expected)
  })

  it("are told, and so are those that were not compared", () => {
    const note = noteOnMerges({ changed: [{ commit: one, paths: ["a.js"] }], unknown: [two], more: 3 })
    assert.include(note, "111111111111 in 'a.js'")
    assert.include(note, "cannot make again to compare them: 222222222222")
    assert.include(note, "3 more merges")
    assert.isUndefined(noteOnMerges({ changed: [], unknown: [], more: 0 }))
  })
})
