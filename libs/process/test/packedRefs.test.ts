import { assert, describe, it } from "@effect/vitest"
import { readPackedRefs } from "../src/packedRefs.ts"

const [one, other] = ["1".repeat(40), "2".repeat(40)]
const header = "# pack-refs with: peeled fully-peeled sorted "

const read = (...lines: ReadonlyArray<string>) => readPackedRefs(lines.map((line) => `${line}\n`).join(""))

describe("packed refs", () => {
  it.each<[string, ReadonlyArray<string>, ReadonlyArray<readonly [string, string?]>]>([
    ["may be none", [], []],
    ["may be none behind a remark", [header], []],
    [
      "say what tags stand for, and which refs are none",
      [header, `${one} refs/heads/a`, `${one} refs/tags/a`, `^${other}`],
      [
        ["refs/heads/a", one],
        ["refs/tags/a", other]
      ]
    ],
    [
      "may say so of those below refs/tags alone",
      ["# pack-refs with: peeled ", `${one} refs/tags/a`, `${one} refs/heads/a`],
      [["refs/tags/a", one], ["refs/heads/a"]]
    ],
    ["may say nothing, in any order", [`${one} refs/tags/b`, `${one} refs/tags/a`], [["refs/tags/b"], ["refs/tags/a"]]],
    ["may be of SHA-256", [`${"1".repeat(64)} refs/tags/a`], [["refs/tags/a"]]]
  ])("%s", (_, lines, expected) => {
    const { odd, refs } = read(...lines)
    assert.isUndefined(odd)
    const found = refs.map(({ peeled, ref }) => (peeled === undefined ? [ref] : [ref, peeled]))
    assert.deepStrictEqual(found, expected as unknown)
  })

  it.each<[string, string, ReadonlyArray<string>]>([
    ["out of the order that the remark promises", `${one} refs/a`, [header, `${one} refs/b`, `${one} refs/a`]],
    ["with a ref that stands there twice", `${other} refs/a`, [`${one} refs/a`, `${one} refs/b`, `${other} refs/a`]],
    ["with a tab", `${one}\trefs/a`, [`${one}\trefs/a`]],
    ["with a hash alone, behind which git takes the line break for a blank", one, [one, "refs/replace/a"]],
    ["with a remark that is not the first line", header, [`${one} refs/a`, header]],
    ["that says a second time what a tag stands for", `^${one}`, [`${one} refs/a`, `^${other}`, `^${one}`]],
    ["that says so of no ref", `^${one}`, [header, `^${one}`]]
  ])("have an odd line %s", (_, odd, lines) => assert.strictEqual(read(...lines).odd, odd))
})
