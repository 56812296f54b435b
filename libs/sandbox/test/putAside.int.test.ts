import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { putAside } from "../src/putAside.ts"

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

  it("is a link itself, and not what it leads to", async () => {
    writeFileSync(join(folder, "mine"), "mine")
    symlinkSync("mine", join(folder, "link"))
    await putAside(join(folder, "link"), join(folder, "refused"))
    assert.sameMembers(readdirSync(folder), ["mine", "refused"])
  })
})
