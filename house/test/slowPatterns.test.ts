import { assert, describe, it } from "@effect/vitest"
import { builtPatterns, findSlowPatterns } from "../src/slowPatterns.ts"
import { readSources, repository } from "../src/sources.ts"

const place = "services/workspace/src/work/planted.ts"
const slowIn = (text: string, file = place) => findSlowPatterns(new Map([[file, text]])).slow

describe("a regular expression that may take quadratic time in a text's length", () => {
  it.each([
    String.raw`/[\r\n]+$/`,
    String.raw`/\s*[#;].*$/`,
    String.raw`/^[^=#;]*=\s*(.*?)\s*$/`,
    String.raw`/^\s*permissions\s*=/m`,
    String.raw`/\s*\(.*\)$/s`,
    "/unknown option.*disable-userns/i",
    "/<!--.*?-->/s",
    String.raw`/‘(\/[^’]*)’/g`,
    String.raw`/\.env(\.[^/]*)?$/`,
    String.raw`/(?:^|\s+)COMPLETE/`,
    "/(?<!y)x+$/",
    "/(?=.*a)b/",
    "/(?<=a.*)b/",
    "/(a+)+$/",
    "/^(?:a|a)*$/",
    String.raw`/^(?:\r\n|\n|\r)(?:[ \t]*(?:\r\n|\n|\r)){1000}/`,
    String.raw`/^(?:x(?:\d\w|\w)y?)*$/`,
    "/a.*b/u",
    String.raw`/^diff --git a\/(.*) b\/\1$/`,
    String.raw`/^(?<quote>["'])x\k<quote>$/`
  ])("is found: %s", (pattern) => {
    const [found, ...more] = slowIn(`\nconst one = ${pattern}`)
    assert.deepStrictEqual([found?.line, found?.pattern, more.length], [2, pattern, 0])
  })

  it.each([
    String.raw`/\s+/g`,
    String.raw`/^.*\//`,
    String.raw`/^\s*permissions\s*=/`,
    "/^.*x/m",
    '/"[^"]*$/',
    "/ {1,8}$/",
    String.raw`/(?<!\/)\/+$/`,
    String.raw`/(?<![.\s])[.\s]+$/`,
    String.raw`/(?<=[^/])\/+$/`,
    String.raw`/(?<!\S)\S*$/`,
    String.raw`/[ \t]*\/dev\/null/y`,
    "/unknown option.*/i",
    String.raw`/#(\d+)b/`,
    String.raw`/^"(?:[^"\\]|\\.)*"/`,
    "/^(?:a|ab)*c/",
    String.raw`/read-only file system(?:: | @ \S+ - )(\/\S+)/i`
  ])("is not taken for one: %s", (pattern) => assert.deepStrictEqual(slowIn(`const one = ${pattern}`), []))

  it.each(["new RegExp(text)", "RegExp(start + end)"])("may be one where it is put together: %s", (code) => {
    assert.lengthOf(slowIn(code), 1)
    assert.lengthOf(slowIn(code, "libs/sandbox/src/caches/cacheRules.ts"), 0)
  })

  it("is looked for in pages of the console, and not in tests and what is for them", () => {
    const text = "const one = /a+$/"
    assert.lengthOf(slowIn("const one = <p>{/a+$/.exec(text)}</p>", "console/src/parts/Planted.tsx"), 1)
    for (const file of ["cli/test/a.test.ts", "libs/testing/src/a.ts", "libs/process/src/testingTrees.ts"]) {
      assert.lengthOf(slowIn(text, file), 0)
    }
  })

  it("has no entry without a use", () => {
    assert.deepStrictEqual(findSlowPatterns(new Map([[place, ""]])).unused, Object.keys(builtPatterns))
  })

  it("is nowhere in the repository", () => {
    assert.deepStrictEqual(findSlowPatterns(readSources(repository)), { slow: [], unused: [] })
  })
})
