import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { heldIn, recordOf } from "../src/replaced/heldFiles.ts"

describe("the record of a running command", () => {
  it("tells which files are held, beside the names that may not appear, and names none by another's copy", () => {
    const path = "/w/a=b c"
    const name = createHash("sha256").update(path).digest("hex").slice(0, 24)
    const file = { path, held: `/s/held/${name}` }
    assert.deepStrictEqual(heldIn("/s/heard/begun-1", `/w/HEAD\n${recordOf(file)}\n=x=/w/no\n`), [file])
    assert.deepStrictEqual(heldIn("/s/heard/begun-1", `=${name}=/home/user/.bashrc\n`), [])
  })
})
