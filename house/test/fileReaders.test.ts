import { assert, describe, it } from "@effect/vitest"
import { findFileReaders, ownReaders } from "../src/fileReaders.ts"
import { readSources, repository } from "../src/sources.ts"

const place = "services/workspace/src/work/planted.ts"
const refusedIn = (text: string, file = place) =>
  findFileReaders(new Map([[file, text]])).refused.map(({ line, name }) => `${line} ${name}`)

describe("code that reads files in a way of its own", () => {
  it.each([
    ["a reader by its name", 'import { readFile, stat } from "node:fs/promises"', ["1 readFile"]],
    ["a reader under another name", 'import { readFileSync as look } from "node:fs"', ["1 readFileSync"]],
    ["a reader of the older name of the module", '\nimport { open } from "fs/promises"', ["2 open"]],
    ["what copies or streams", 'import { cp, createReadStream } from "node:fs"', ["1 cp", "1 createReadStream"]],
    ["the promises of the module", 'import { promises } from "node:fs"', ["1 promises"]],
    ["the whole module", 'import * as fs from "node:fs"', ["1 *"]],
    ["the module by default", 'import fs from "node:fs/promises"', ["1 *"]],
    ["an import while it runs", 'const fs = await import("node:fs")', ["1 *"]],
    ["a require", 'const fs = createRequire(import.meta.url)("fs")', ["1 *"]],
    ["a built-in module", "process.getBuiltinModule('node:fs').readFileSync(path)", ["1 *"]],
    ["a re-export", 'export { readFile } from "node:fs/promises"', ["1 *"]],
    ["the file system of effect", 'import { Effect, FileSystem } from "effect"', ["1 FileSystem"]]
  ])("is caught: %s", (_, text, refused) => assert.deepStrictEqual(refusedIn(text), refused))

  it.each([
    ["looks at names alone", 'import { existsSync, lstatSync } from "node:fs"'],
    ["takes only types", 'import { type FileHandle, type Dirent, stat } from "node:fs/promises"'],
    ["takes only types, said before them", 'import type { Stats } from "node:fs"'],
    ["reads in the one way", 'import { readForeignFile } from "@reprise/process"']
  ])("is allowed where it %s", (_, text) => assert.deepStrictEqual(refusedIn(text), []))

  it("is allowed where an entry says why, and there alone", () => {
    const text = 'import { readFile } from "node:fs/promises"'
    assert.deepStrictEqual(refusedIn(text, "libs/process/src/identity.ts"), [])
    assert.deepStrictEqual(refusedIn(text, "libs/nats/src/deep/planted.ts"), [])
    assert.lengthOf(refusedIn(text, "libs/process/src/identity2.ts"), 1)
  })

  it.each([
    ["nothing about links", "readForeignText(path, { largestBytes })", ["1 readForeignText"]],
    ["limits from elsewhere", "readForeignEnd(path, limits)", ["1 readForeignEnd"]],
    ["limits that something adds to", "\nreadForeignFile(path, { ...limits })", ["2 readForeignFile"]],
    ["a part of a file", "readForeignPart(path, 0, { largestBytes })", ["1 readForeignPart"]],
    ["that they are followed", "readForeignText(path, { largestBytes, follow: true })", []],
    ["below what they are not", "readForeignText(path, { largestBytes, below: root })", []],
    ["limits of a folder", "readForeignFolder(path, limits)", []]
  ])("says whether a link is followed: %s", (_, call, expected) => {
    const { undecided } = findFileReaders(new Map([[place, call]]))
    assert.deepStrictEqual(
      undecided.map(({ line, name }) => `${line} ${name}`),
      expected
    )
  })

  it("has no entry without a use", () => {
    assert.deepStrictEqual(findFileReaders(new Map([[place, ""]])).unused, Object.keys(ownReaders))
  })

  it("is nowhere in the repository", () => {
    assert.deepStrictEqual(findFileReaders(readSources(repository)), { refused: [], undecided: [], unused: [] })
  })
})
