import { assert, describe, it } from "@effect/vitest"
import { malformedPaths } from "../src/malformedTrees.ts"

/** A name that ends with a slash is a folder. */
const entries = (...names: ReadonlyArray<string>) =>
  names.map((name) => ({ path: name.replace(/\/$/, ""), type: name.endsWith("/") ? "tree" : "blob" }))

describe("the entries of a commit", () => {
  it.each([
    ["files and folders", entries("a", "b/", "b/c/", "b/c/d", "b/e", "f")],
    ["a folder that sorts as if its name ended with a slash", entries("a-b", "a.b", "a/", "a/x", "a0")],
    ["names that are no ASCII", entries("z", "é", "ü/", "ü/ß", "😀")],
    [
      "names that are not UTF-8",
      [
        { path: "\uFFFD", bytes: "\xe4", type: "blob" },
        { path: "\uFFFD", bytes: "\xe5", type: "blob" }
      ]
    ],
    ["nothing", []]
  ])("are sound with %s", (_title, all) => {
    assert.deepStrictEqual(malformedPaths(all), [])
  })

  it.each([
    ["a slash in a name", entries("a", "evil/x.js", "z"), ["evil/x.js"]],
    ["a slash in a name of a folder's entry", entries("lib/", "lib/b/c.js"), ["lib/b/c.js"]],
    ["a name twice", entries("a", "a"), ["a"]],
    ["a file and a folder of one name", entries("a", "a/", "a/x"), ["a"]],
    ["another order", entries("b", "a", "c"), ["a"]]
  ])("are malformed with %s", (_title, all, paths) => {
    assert.deepStrictEqual(malformedPaths(all), paths)
  })
})
