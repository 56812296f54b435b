import { assert, describe, it } from "@effect/vitest"
import { fitPatch } from "../src/work/look/fitPatch.ts"
import { shownWork } from "../src/work/look/look.ts"
import type { FileDiff } from "../src/work/look/readDiff.ts"

const changed = (path: string, lines: number, isWhole = true): FileDiff => ({
  ...{ path, added: lines, removed: 0, kinds: [], isWhole },
  text: `diff --git a/${path} b/${path}\n@@ -1 +1,${lines} @@\n${Array.from({ length: lines }, (_, n) => `+line ${n}\n`).join("")}`
})

const small = changed("small.txt", 2)
const big = changed("big.txt", 100)
const all = 1_000_000

describe("the files of a patch", () => {
  it("are whole where they are small, and the largest is cut after a line and still counted whole", () => {
    const [cut, whole] = fitPatch([big, small], small.text.length + 100)
    assert.deepStrictEqual([cut?.path, cut?.added, cut?.shown], ["big.txt", 100, "start"])
    assert.match(cut?.text ?? "", /\+line \d+\n$/)
    assert.isTrue(big.text.startsWith(cut?.text ?? "?"))
    const { isWhole: _, ...file } = small
    assert.deepStrictEqual(whole, { ...file, shown: "whole" })
  })

  it("are named where nothing of them is left", () => {
    const fitted = fitPatch([big, small], small.text.length)
    assert.deepStrictEqual(
      fitted.map(({ shown, text }) => [shown, text]),
      [
        ["none", ""],
        ["whole", small.text]
      ]
    )
  })

  it("are not called whole where git was ended before it had written them", () => {
    const fitted = fitPatch([changed("begun.txt", 3, false), { ...small, text: "", isWhole: false }], all)
    assert.deepStrictEqual(
      fitted.map(({ shown }) => shown),
      ["start", "none"]
    )
  })

  it("are none without a change", () => assert.deepStrictEqual(fitPatch([], all), []))
})

describe("a page of changes", () => {
  it("lists a thousand of each kind, and says how many more there are and what they add", () => {
    const names = Array.from({ length: 1_200 }, (_, n) => `${n}`)
    const files = names.map((name) => changed(name, 2))
    const { commits, files: listed, more, patch, untracked } = shownWork({ commits: names, untracked: names, files })
    assert.deepStrictEqual([commits.length, untracked.length, listed.length], [1_000, 1_000, 1_000])
    assert.deepStrictEqual(more, { commits: 200, untracked: 200, files: 200, added: 400, removed: 0 })
    assert.strictEqual(
      patch.omitted,
      files.slice(1_000).reduce((sum, { text }) => sum + text.length, 0)
    )
  })
})
