import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { onTestFinished } from "vitest"
import { rememberWhile } from "../src/rememberWhile.ts"

/** A file that has not changed for long, a folder, and how often somebody was asked about them. */
const scene = () => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-remember-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [file, inner] = [join(folder, "file"), join(folder, "inner")]
  mkdirSync(inner)
  let asked = 0
  const remembered = rememberWhile<number>(() => [file, inner])
  const ask = () => remembered("question", async () => ++asked)
  return { file, inner, ask, remembered }
}

/** A change time cannot be set: only waiting makes a file old. */
const untilOld = async (path: string) => {
  const { ctimeMs } = statSync(path)
  while (Date.now() - ctimeMs < 200) await new Promise((resolve) => setImmediate(resolve))
}

describe("an answer", () => {
  it("is given again while its files are the same ones, whatever is made in a folder of them", async () => {
    const { ask, file, inner, remembered } = scene()
    writeFileSync(file, "a")
    await untilOld(file)
    assert.deepStrictEqual([await ask(), await ask()], [1, 1])
    writeFileSync(join(inner, "new"), "")
    assert.strictEqual(await ask(), 1)
    assert.strictEqual(await remembered("another question", async () => 7), 7)
  })

  it("is asked for again while a file may have changed just now", async () => {
    const { ask, file } = scene()
    writeFileSync(file, "a")
    assert.deepStrictEqual([await ask(), await ask()], [1, 2])
  })

  it.each([
    ["is written again with its old times", (file: string) => writeFileSync(file, "b")],
    [
      "is another one of the same size and times",
      (file: string) => {
        writeFileSync(`${file}-2`, "b")
        renameSync(`${file}-2`, file)
      }
    ],
    ["is gone", (file: string) => rmSync(file)]
  ])("is asked for again when a file %s", async (_, change) => {
    const { ask, file } = scene()
    writeFileSync(file, "a")
    await untilOld(file)
    assert.strictEqual(await ask(), 1)
    const { atime, mtime } = statSync(file)
    change(file)
    try {
      utimesSync(file, atime, mtime)
    } catch {
      // It is gone.
    }
    assert.strictEqual(await ask(), 2)
  })

  it("that was refused is asked for again", async () => {
    const { file, remembered } = scene()
    writeFileSync(file, "a")
    await untilOld(file)
    const refused = await remembered("question", () => Promise.reject(new Error("no"))).catch(() => "refused")
    assert.strictEqual(refused, "refused")
    assert.strictEqual(await remembered("question", async () => 1), 1)
  })
})
