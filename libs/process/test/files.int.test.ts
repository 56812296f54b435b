import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { replaceFile } from "../src/index.ts"

let directory = ""
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reprise-files-"))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777

describe("replaceFile", () => {
  it("creates a file and the folders above it, for their owner alone", async () => {
    const path = join(directory, "state", "deep", "file.json")
    await replaceFile(path, "one")
    assert.strictEqual(readFileSync(path, "utf8"), "one")
    assert.strictEqual(modeOf(path), 0o600)
    assert.strictEqual(modeOf(join(directory, "state")), 0o700)
  })

  it("replaces the whole text and leaves no draft behind", async () => {
    const path = join(directory, "file")
    await replaceFile(path, "a long first text")
    await replaceFile(path, "two")
    assert.strictEqual(readFileSync(path, "utf8"), "two")
    assert.deepStrictEqual(readdirSync(directory), ["file"])
  })

  it("lets the caller choose other permissions", async () => {
    const path = join(directory, "file")
    await replaceFile(path, "text", { mode: 0o640 })
    assert.strictEqual(modeOf(path), 0o640)
  })

  it("keeps the old file and removes the draft when the file cannot be replaced", async () => {
    const path = join(directory, "taken")
    mkdirSync(join(path, "inside"), { recursive: true })
    const failed = await replaceFile(path, "text").then(
      () => false,
      () => true
    )
    assert.isTrue(failed)
    assert.deepStrictEqual(readdirSync(directory), ["taken"])
    assert.deepStrictEqual(readdirSync(path), ["inside"])
  })

  it("replaces a link instead of writing through it", async () => {
    const elsewhere = join(directory, "elsewhere")
    const path = join(directory, "link")
    writeFileSync(elsewhere, "untouched")
    symlinkSync(elsewhere, path)
    await replaceFile(path, "text")
    assert.strictEqual(readFileSync(elsewhere, "utf8"), "untouched")
    assert.strictEqual(readFileSync(path, "utf8"), "text")
  })

  it("gives every one of many writers at the same time a whole text", async () => {
    const path = join(directory, "file")
    const texts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(10_000))
    await Promise.all(texts.map((text) => replaceFile(path, text)))
    assert.include(texts, readFileSync(path, "utf8"))
    assert.deepStrictEqual(readdirSync(directory), ["file"])
  })

  it("overwrites a draft of a fixed name that a crash left behind", async () => {
    const path = join(directory, "file")
    writeFileSync(`${path}.tmp`, "half a te")
    await replaceFile(path, "text", { draft: `${path}.tmp` })
    assert.deepStrictEqual(readdirSync(directory), ["file"])
  })
})
