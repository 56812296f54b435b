/** Copies of protected folders, and what is done where another folder is there. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { holdAgain, holdFolders, settleFolders, whichFolders } from "../src/replaced/heldFolders.ts"

let folder = ""
let heard = ""
let hooks = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reprise-folders-"))
  heard = join(folder, "sandbox", "hosts", "1", "heard")
  hooks = join(folder, "work", "hooks")
  for (const path of [heard, hooks, refused()]) mkdirSync(path, { recursive: true })
  write("true")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const refused = () => join(folder, "sandbox", "refused")
const write = (text: string) => writeFileSync(join(hooks, "pre-commit"), text)
const text = () => readFileSync(join(hooks, "pre-commit"), "utf8")

/** As the program of a command writes it. */
const record = () => execFileSync("/bin/sh", ["-c", `${whichFolders} "$0"`, hooks], { encoding: "utf8" })

const remake = (content: string) => {
  rmSync(hooks, { recursive: true })
  mkdirSync(hooks)
  write(content)
}

const settle = (before: string) => settleFolders(join(heard, "begun-1"), before, refused())

describe("a folder that is held", () => {
  it("is known by what `stat` says of it, and another one with its number is not taken for it", async () => {
    await holdAgain(heard, [hooks])
    const before = record()
    assert.deepStrictEqual(await settle(before), [])
    remake("evil")
    assert.notStrictEqual(record(), before)
    assert.deepStrictEqual(await settle(before), [{ path: hooks, isBack: true }])
    assert.strictEqual(text(), "true")
    assert.deepStrictEqual(await settle(before), [], "the one that was put back holds the same")
  })

  it("is compared with what it held when the last command began, also where another one goes on that has its mount", async () => {
    await holdAgain(heard, [hooks])
    writeFileSync(join(heard, "begun-1"), record())
    write("mine")
    await holdAgain(heard, [hooks])
    const before = record()
    remake("evil")
    await settle(before)
    assert.strictEqual(text(), "mine")
  })

  it("is compared with what it held before another command could write it, as long as that goes on or nobody looked at it", async () => {
    await holdAgain(heard, [hooks])
    const first = record()
    writeFileSync(join(heard, "begun-1"), first)
    remake("evil")
    await holdAgain(heard, [hooks])
    await settle(record())
    assert.strictEqual(text(), "evil", "that it is the same folder was seen by its own command")
    await settle(first)
    assert.strictEqual(text(), "true")
  })

  it("is not copied for the first time while a command goes on that may have written it", async () => {
    const other = join(folder, "sandbox", "hosts", "2", "heard")
    mkdirSync(other, { recursive: true })
    writeFileSync(join(other, "begun-2"), record())
    remake("evil")
    assert.deepStrictEqual((await holdAgain(heard, [hooks])).copied, [])
  })

  it("may not be read by its owner, and is put aside all the same", async () => {
    await holdAgain(heard, [hooks])
    const before = record()
    remake("evil")
    chmodSync(hooks, 0)
    assert.deepStrictEqual(await settle(before), [{ path: hooks, isBack: true }])
  })

  it("is not put where a link has taken the place of the folder above it, and nothing that the link leads to is moved", async () => {
    await holdAgain(heard, [hooks])
    const before = record()
    renameSync(join(folder, "work"), join(folder, "moved"))
    mkdirSync(join(folder, "mine", "hooks"), { recursive: true })
    symlinkSync("mine", join(folder, "work"))
    assert.deepStrictEqual(await settle(before), [{ path: join(folder, "work"), isBack: false }])
    assert.isTrue(existsSync(join(folder, "mine", "hooks")))
  })

  it("is none in a folder that is protected itself, and no file", async () => {
    const inner = join(hooks, "inner")
    mkdirSync(inner)
    const { paths } = await holdFolders(heard, { guarded: [inner, hooks, join(hooks, "pre-commit")] })
    assert.deepStrictEqual(paths, [hooks])
  })

  it("leaves nothing behind but its copy and a stamp", async () => {
    await holdAgain(heard, [hooks])
    const before = record()
    remake("evil")
    await settle(before)
    assert.strictEqual(readdirSync(join(heard, "..", "held")).length, 2)
  })
})
