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
  it("tells which files are held, beside the names that may not appear", () => {
    const file = { path: "/w/a=b c", held: "/s/held/0a1b" }
    assert.deepStrictEqual(heldIn("/s/heard/begun-1", `/w/HEAD\n${recordOf(file)}\n=x=/w/no\n`), [file])
  })
})
