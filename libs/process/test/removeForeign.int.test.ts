import { execFileSync } from "node:child_process"
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
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
import { removeForeign } from "../src/removeForeign.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reprise-remove-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Folders in each other, with a file in the last. */
const makeDeep = (inside: string, depth: number, name: string) =>
  execFileSync(
    process.execPath,
    [
      "-e",
      `for (let n = 0; n < ${depth}; n++) { fs.mkdirSync(${JSON.stringify(name)}); process.chdir(${JSON.stringify(name)}) }
    fs.writeFileSync("f", "")`
    ],
    { cwd: inside }
  )

describe("the removal of what commands made", () => {
  it.each([
    ["longer than the system takes", 60, "a".repeat(200)],
    ["much longer", 300, "ü".repeat(127)],
    ["of very many folders", 3000, "a"]
  ])("takes a path that is %s", async (_, depth, name) => {
    const path = join(folder, "tree")
    mkdirSync(join(path, "beside"), { recursive: true })
    makeDeep(path, depth, name)
    makeDeep(join(path, "beside"), depth, name)
    await removeForeign(path)
    assert.deepStrictEqual(readdirSync(folder), [])
  })

  it("takes folders that nobody may list or change, and names that are not text", async () => {
    const path = join(folder, "tree")
    mkdirSync(join(path, "closed", "inner"), { recursive: true })
    writeFileSync(join(path, "closed", "inner", "file"), "")
    writeFileSync(Buffer.concat([Buffer.from(`${path}/closed/`), Buffer.from([0xff, 0xfe])]), "")
    for (const name of ["closed/inner", "closed", ""]) chmodSync(join(path, name), 0)
    await removeForeign(path)
    assert.deepStrictEqual(readdirSync(folder), [])
  })

  it("removes links, and changes nothing that they lead to", async () => {
    mkdirSync(join(folder, "mine"))
    writeFileSync(join(folder, "mine", "file"), "mine")
    chmodSync(join(folder, "mine"), 0o755)
    const path = join(folder, "tree")
    mkdirSync(path)
    symlinkSync("../mine", join(path, "link"))
    symlinkSync("mine", join(folder, "itself"))
    await removeForeign(path)
    await removeForeign(join(folder, "itself"))
    assert.deepStrictEqual(readdirSync(folder), ["mine"])
    assert.strictEqual(readFileSync(join(folder, "mine", "file"), "utf8"), "mine")
    assert.strictEqual(statSync(join(folder, "mine")).mode & 0o777, 0o755)
  })

  it.runIf(process.platform === "linux")(
    "goes on in the folder that its caller opened, whatever is at its name",
    async () => {
      mkdirSync(join(folder, "opened", "tree"), { recursive: true })
      mkdirSync(join(folder, "mine", "tree"), { recursive: true })
      using closing = new DisposableStack()
      const opened = closing.adopt(openSync(join(folder, "opened"), "r"), closeSync)
      renameSync(join(folder, "opened"), join(folder, "moved"))
      symlinkSync("mine", join(folder, "opened"))
      await removeForeign(`/proc/self/fd/${opened}/tree`)
      assert.isFalse(existsSync(join(folder, "moved", "tree")))
      assert.isTrue(existsSync(join(folder, "mine", "tree")))
    }
  )

  it.each(["nothing", "nothing/below"])("passes over what is not there: %s", async (name) => {
    await removeForeign(join(folder, name))
    assert.deepStrictEqual(readdirSync(folder), [])
  })

  it("takes a file", async () => {
    writeFileSync(join(folder, "file"), "")
    await removeForeign(join(folder, "file"))
    assert.deepStrictEqual(readdirSync(folder), [])
  })
})
