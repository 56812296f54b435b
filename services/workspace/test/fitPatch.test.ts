import { assert, describe, it } from "@effect/vitest"
import { fitPatch } from "../src/work/look/fitPatch.ts"

const changed = (name: string, lines: ReadonlyArray<string>): string =>
  [`diff --git a/${name} b/${name}`, `--- a/${name}`, `+++ b/${name}`, "@@ -1,2 +1,2 @@", ...lines, ""].join("\n")

const small = changed("small.txt", [" same", "-old", "+new"])
const big = changed(
  "big.txt",
  Array.from({ length: 100 }, (_, n) => `+line ${n}`)
)
const all = 1_000_000

describe("the files of a patch", () => {
  it.each<[string, string, unknown]>([
    ["a change", small, { path: "small.txt", added: 1, removed: 1, shown: "whole" }],
    [
      "a new file whose lines look like headers",
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+++ b/other\n+diff --git a/x b/x\n",
      { path: "n", added: 2, removed: 0, shown: "whole" }
    ],
    [
      "a removed file",
      "diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n--- a/other\n",
      { path: "n", added: 0, removed: 1, shown: "whole" }
    ],
    [
      "a renamed file",
      "diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n",
      { path: "new name", added: 0, removed: 0, shown: "whole" }
    ],
    [
      "a binary file",
      "diff --git a/p.png b/p.png\nindex 1..2 100644\nBinary files a/p.png and b/p.png differ\n",
      { path: "p.png", added: 0, removed: 0, shown: "whole" }
    ],
    [
      "a name with a blank",
      "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n",
      { path: "a b", added: 1, removed: 1, shown: "whole" }
    ],
    [
      "a name with a quotation mark",
      'diff --git "a/a\\"b" "b/a\\"b"\n--- "a/a\\"b"\n+++ "b/a\\"b"\n@@ -1 +1 @@\n-a\n+b\n',
      { path: 'a\\"b', added: 1, removed: 1, shown: "whole" }
    ]
  ])("name %s, with its lines", (_, patch, file) => {
    const fitted = fitPatch(patch, all)
    assert.deepStrictEqual<ReadonlyArray<unknown>>(fitted.files, [file])
    assert.strictEqual(fitted.text, patch)
  })

  it("are whole where they are small, and the largest is cut after a line and still counted whole", () => {
    const { files, text } = fitPatch(big + small, small.length + 100)
    assert.deepStrictEqual(
      files.map(({ added, path, shown }) => [path, added, shown]),
      [
        ["big.txt", 100, "start"],
        ["small.txt", 1, "whole"]
      ]
    )
    assert.isTrue(text.endsWith(small))
    assert.match(text, /\+line \d+\ndiff --git a\/small/)
  })

  it("are named where nothing of them is left", () => {
    const { files, text } = fitPatch(big + small, small.length)
    assert.deepStrictEqual(
      files.map(({ shown }) => shown),
      ["none", "whole"]
    )
    assert.strictEqual(text, small)
  })

  it("are none without a change", () => assert.deepStrictEqual(fitPatch("", all), { files: [], text: "" }))
})
