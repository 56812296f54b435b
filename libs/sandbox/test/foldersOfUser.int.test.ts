import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ForeignFileRefused } from "@reprise/process"
import { afterEach, beforeEach } from "vitest"
import { entriesIn } from "../src/policy/foldersOfUser.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reprise-folders-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("a folder in which something must be protected", () => {
  it("is refused with a sentence where it has more entries than anybody has there", async () => {
    for (const name of ["a", "b", "c"]) mkdirSync(join(folder, name))
    assert.lengthOf(await entriesIn(folder, 3), 3)
    const refusal = await entriesIn(folder, 2).catch((error) => error)
    assert.instanceOf(refusal, ForeignFileRefused)
    assert.match(refusal.message, /has more than 2 entries\. Remove what does not belong there\.$/)
  })

  it("has none where no folder is", async () => {
    writeFileSync(join(folder, "file"), "")
    symlinkSync("link", join(folder, "link"))
    for (const name of ["absent", "file", "link"]) assert.deepStrictEqual(await entriesIn(join(folder, name)), [])
  })
})
