import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { grantOwner, inItsFolder } from "../src/disk/pinnedFolder.ts"
import { putAside } from "../src/disk/putAside.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reprise-aside-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("what is put aside", () => {
  it("is never written over by another of its name, at whatever time", async () => {
    const names = ["a", "b", "c", "d"]
    for (const name of names) {
      mkdirSync(join(folder, name))
      writeFileSync(join(folder, name, "config"), name)
    }
    const refused = join(folder, "refused")
    await Promise.all(names.map((name) => putAside(join(folder, name, "config"), refused)))
    const kept = readdirSync(refused).map((name) => readFileSync(join(refused, name), "utf8"))
    assert.sameMembers(kept, names)
  })

  it("may have a name as long as a disk takes", async () => {
    const path = join(folder, "ü".repeat(127))
    mkdirSync(path)
    assert.isTrue(existsSync(await putAside(path, join(folder, "refused"))))
    assert.isFalse(existsSync(path))
  })

  it("is a link itself, and not what it leads to", async () => {
    writeFileSync(join(folder, "mine"), "mine")
    symlinkSync("mine", join(folder, "link"))
    await putAside(join(folder, "link"), join(folder, "refused"))
    assert.sameMembers(readdirSync(folder), ["mine", "refused"])
  })

  it("is moved although a command took the right to do so", async () => {
    mkdirSync(join(folder, "closed", "config"), { recursive: true })
    chmodSync(join(folder, "closed", "config"), 0)
    chmodSync(join(folder, "closed"), 0)
    await putAside(join(folder, "closed", "config"), join(folder, "refused"))
    assert.strictEqual(readdirSync(join(folder, "refused")).length, 1)
  })

  it.each([
    ["its folder", "swapped/config"],
    ["a folder above that", "swapped/deep/config"],
    ["its folder, in bytes", Buffer.from("swapped/config")]
  ])("is nothing that lies elsewhere, where a link has taken the place of %s", async (_, name) => {
    mkdirSync(join(folder, "mine", "deep"), { recursive: true })
    for (const at of ["config", "deep/config"]) writeFileSync(join(folder, "mine", at), "mine")
    symlinkSync("mine", join(folder, "swapped"))
    const path = typeof name === "string" ? join(folder, name) : Buffer.concat([Buffer.from(`${folder}/`), name])
    const failed = await putAside(path, join(folder, "refused")).catch((error: unknown) => error)
    assert.match(String(failed), /was replaced while Reprise worked in it/)
    assert.isTrue(existsSync(join(folder, "mine", "config")) && existsSync(join(folder, "mine", "deep", "config")))
    assert.deepStrictEqual(readdirSync(join(folder, "refused")), [])
  })
})

describe("the rights of a folder", () => {
  it("are given to its owner, and never those of what stands behind a link", async () => {
    mkdirSync(join(folder, "closed"))
    chmodSync(join(folder, "closed"), 0o050)
    await grantOwner(join(folder, "closed"))
    assert.strictEqual(statSync(join(folder, "closed")).mode & 0o777, 0o750)
    mkdirSync(join(folder, "mine"))
    chmodSync(join(folder, "mine"), 0o500)
    symlinkSync("mine", join(folder, "link"))
    const failed = await grantOwner(join(folder, "link")).catch((error: unknown) => error)
    assert.match(String(failed), /was replaced while Reprise worked in it/)
    assert.strictEqual(statSync(join(folder, "mine")).mode & 0o777, 0o500)
  })
})

describe("the folder of a path", () => {
  it("stays the one that it was while something is done in it, although a link takes its place", async () => {
    for (const name of ["first", "mine"]) mkdirSync(join(folder, name))
    await inItsFolder(join(folder, "first", "made"), async (pinned) => {
      renameSync(join(folder, "first"), join(folder, "moved"))
      symlinkSync("mine", join(folder, "first"))
      writeFileSync(pinned, "")
    })
    assert.deepStrictEqual(readdirSync(join(folder, "moved")), ["made"])
    assert.deepStrictEqual(readdirSync(join(folder, "mine")), [])
  })

  it("is refused behind a link on a machine that does not tell where open folders are", async () => {
    mkdirSync(join(folder, "mine", "deep"), { recursive: true })
    symlinkSync("mine", join(folder, "link"))
    const writes = (path: string) => inItsFolder(path, async (pinned) => writeFileSync(pinned, ""), "/nowhere")
    await writes(join(folder, "mine", "deep", "made"))
    const failed = await writes(join(folder, "link", "deep", "made2")).catch((error: unknown) => error)
    assert.match(String(failed), /was replaced while Reprise worked in it/)
    assert.deepStrictEqual(readdirSync(join(folder, "mine", "deep")), ["made"])
  })
})
