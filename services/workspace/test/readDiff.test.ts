import { assert, describe, it } from "@effect/vitest"
import { readDiff } from "../src/work/look/readDiff.ts"

const list = (...fields: ReadonlyArray<string>) => fields.map((field) => `${field}\0`).join("")
const part = (path: string, text: string) => `diff --git a/${path} b/${path}\n${text}`

const a = part("a", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n")
const b = part("b", "new file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+3\n")
const two = list(":100644 100644 1 2 M", "a", ":000000 100644 0 3 A", "b", "1\t1\ta", "1\t0\tb") + list("") + a + b

const summary = (output: string, isCut = false) =>
  readDiff(output, isCut)?.map(({ added, isWhole, kinds, path, removed, text }) => [
    ...[path, kinds.join(), added, removed, isWhole, text]
  ])

describe("what git writes of changed files", () => {
  it("is their names, what was done with them, their lines, and each one's part of the patch", () =>
    assert.deepStrictEqual(summary(two), [
      ["a", "", 1, 1, true, a],
      ["b", "new", 1, 0, true, b]
    ]))

  it("is nothing without a change", () => assert.deepStrictEqual(readDiff("", false), []))

  it.each<[string, string, string]>([
    ["a tab", "a\tb", '"a/a\\tb" "b/a\\tb"'],
    ["a line feed", "a\nb", '"a/a\\nb" "b/a\\nb"'],
    ["a bell", "a\u0007b\u0001", '"a/a\\ab\\001" "b/a\\ab\\001"'],
    ["quotation marks and a backslash", 'a"\\', '"a/a\\"\\\\" "b/a\\"\\\\"'],
    ["a blank and foreign letters", " ä ", "a/ ä  b/ ä "],
    ["a line separator", "a\u2028b", "a/a\u2028b b/a\u2028b"]
  ])("has a part for a name with %s", (_, path, names) => {
    const text = `diff --git ${names}\n@@ -0,0 +1 @@\n+1\n`
    const output = list(":100644 100644 1 2 M", path, `1\t0\t${path}`, "") + text
    assert.deepStrictEqual(summary(output), [[path, "", 1, 0, true, text]])
  })

  it("shows of a file that became a link that one is gone and another is new", () => {
    const gone = part("l", "deleted file mode 100644\n")
    const made = part("l", "new file mode 120000\n")
    const output = list(":100644 120000 1 2 T", "l", ":100644 100644 1 2 M", "m", "1\t1\tl", "1\t1\tm", "")
    assert.deepStrictEqual(summary(output + gone + made + part("m", "")), [
      ["l", "type changed", 1, 1, true, gone + made],
      ["m", "", 1, 1, true, part("m", "")]
    ])
  })

  it("gives a renamed file its two names, also where its parts could be taken for those of another", () => {
    const line = "diff --git a/x b/y b/z\n"
    const output =
      list(":100644 100644 1 1 R100", "x b/y", "z", ":100644 100755 1 1 R090", "x", "y b/z") +
      list("0\t0\t", "x b/y", "z", "2\t1\t", "x", "y b/z", "")
    const read = readDiff(`${output}${line}rename from x b/y\n${line}rename from x\n`, false)
    assert.deepStrictEqual(
      read?.map(({ added, from, kinds, path, text }) => [from, path, kinds.join(), added, text]),
      [
        ["x b/y", "z", "renamed", 0, `${line}rename from x b/y\n`],
        ["x", "y b/z", "renamed,mode changed", 2, `${line}rename from x\n`]
      ]
    )
  })

  it("leaves a file without a part where git wrote none, and gives the next one its own", () => {
    const output = list(":100644 100644 1 1 M", "a", ":000000 100644 0 3 A", "b", "1\t0\tb", "") + b
    assert.deepStrictEqual(summary(output), [
      ["a", "", 0, 0, true, ""],
      ["b", "new", 1, 0, true, b]
    ])
  })

  it("is not whole from where git was ended", () => {
    assert.deepStrictEqual(summary(two.slice(0, -3), true), [
      ["a", "", 1, 1, true, a],
      ["b", "new", 1, 0, false, b.slice(0, -3)]
    ])
    assert.deepStrictEqual(summary(two.slice(0, two.indexOf(b)), true), [
      ["a", "", 1, 1, false, a],
      ["b", "new", 1, 0, false, ""]
    ])
  })

  it("cannot be read where git was ended within the lists", () => {
    const end = two.indexOf("diff --git") - 1
    for (let at = 0; at <= end; at += 1) assert.isUndefined(readDiff(two.slice(0, at), true), `${at}`)
  })
})
