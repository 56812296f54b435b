/** What exists of many paths, by lists of the folders on the way. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { find, makeFindEach } from "../src/found.ts"

describe("many paths at once", () => {
  let root = ""
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-found-")))
  })
  afterEach(() => {
    chmodSync(join(root, "closed"), 0o700)
    rmSync(root, { recursive: true, force: true })
  })

  it("are found as each of them alone is: files, folders, links, what is behind links, and what does not exist", async () => {
    mkdirSync(join(root, "folder/inner"), { recursive: true })
    writeFileSync(join(root, "folder/inner/file"), "")
    mkdirSync(join(root, "closed"))
    writeFileSync(join(root, "closed/file"), "")
    chmodSync(join(root, "closed"), 0o300)
    symlinkSync("folder", join(root, "link"))
    symlinkSync("nowhere", join(root, "broken"))
    const names = [
      ...["folder", "folder/inner", "folder/inner/file", "folder/inner/file/below", "folder/none", "none/deeper/still"],
      ...["link", "link/inner/file", "link/none", "broken", "broken/below", "closed/file", "closed/none", "."]
    ]
    const paths = [...names.map((name) => join(root, name)), "/", root]
    assert.deepStrictEqual(await makeFindEach()(paths), await Promise.all(paths.map(find)))
  })
})
