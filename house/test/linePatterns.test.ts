import { assert, describe, it } from "@effect/vitest"
import { findLinePatterns } from "../src/linePatterns.ts"
import { readSources, repository } from "../src/sources.ts"

const place = "services/workspace/src/work/planted.ts"
const foundIn = (text: string, file = place) => findLinePatterns(new Map([[file, text]]))

describe("a regular expression that takes other characters than a line feed for ends of lines", () => {
  it.each(["/^rename to/m", "/^a$/gm", 'new RegExp(text, "gm")', 'RegExp(text, "m")', "new RegExp(text, flags)"])(
    "is found: %s",
    (code) => assert.deepStrictEqual(foundIn(`\nconst one = ${code}`), [{ file: place, line: 2, pattern: code }])
  )

  it.each([
    "/^rename to/",
    "/(?<![^\\n])a(?![^\\n])/g",
    "new RegExp(text)",
    'new RegExp(text, "gu")',
    'split(text, "m")'
  ])("is not: %s", (code) => assert.deepStrictEqual(foundIn(`const one = ${code}`), []))

  it("is looked for in pages of the console, and not in tests", () => {
    assert.lengthOf(foundIn("const one = <p>{/^a/m.exec(text)}</p>", "console/src/parts/Planted.tsx"), 1)
    assert.lengthOf(foundIn("const one = /^a/m", "cli/test/a.test.ts"), 0)
  })

  it("is nowhere in the repository", () => assert.deepStrictEqual(findLinePatterns(readSources(repository)), []))
})
