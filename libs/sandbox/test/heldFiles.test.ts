import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { heldIn, ofBranch, recordOf } from "../src/heldFiles.ts"

describe("a line of git's configuration that changed while a command ran", () => {
  it.each([
    "branch.main.remote=origin",
    "branch.main.remote=.",
    "branch.a b.c/d.merge=refs/heads/a",
    "branch.main.rebase=true",
    "branch.main.vscode-merge-base=origin/main"
  ])("is what git writes for a branch: %s", (line) => {
    assert.match(line, new RegExp(ofBranch))
  })

  it.each([
    ...["core.fsmonitor=evil", "include.path=x", "alias.x=!evil", "core.pager=", "", "remote.origin.url=evil"],
    ...[
      "branch.main.remote=ext::sh -c evil",
      "branch.main.remote=/tmp/evil",
      "branch.main.remote=-x",
      "branch.x.evil=a"
    ],
    ...[
      "branch.main.mergeoptions=--strategy=evil",
      "branch.main.remote=../evil",
      "branch.x.remote=https://evil.example"
    ]
  ])("is something else: %s", (line) => {
    assert.notMatch(line, new RegExp(ofBranch))
  })
})

describe("the record of a running command", () => {
  it("tells which files are held, beside the names that may not appear, and names none by another's copy", () => {
    const path = "/w/a=b c"
    const name = createHash("sha256").update(path).digest("hex").slice(0, 24)
    const file = { path, held: `/s/held/${name}` }
    assert.deepStrictEqual(heldIn("/s/heard/begun-1", `/w/HEAD\n${recordOf(file)}\n=x=/w/no\n`), [file])
    assert.deepStrictEqual(heldIn("/s/heard/begun-1", `=${name}=/home/user/.bashrc\n`), [])
  })
})
