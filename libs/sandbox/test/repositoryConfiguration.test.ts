import { assert, describe, it } from "@effect/vitest"
import { isHook, readSettings, unusualKeys } from "../src/nested/repositoryConfiguration.ts"

const unusual = (listed: string) => unusualKeys(readSettings(listed), (path) => path === "../work")

describe("the configuration of a repository inside of another", () => {
  it.each([
    "core.repositoryformatversion\n0\0core.filemode\ntrue\0core.bare\nfalse\0core.logallrefupdates\ntrue\0",
    "remote.origin.url\nhttps://example.org/a.git\0remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*\0",
    "remote.origin.url\ngit@example.org:a/b.git\0branch.a.b.remote\norigin\0branch.a.b.merge\nrefs/heads/a.b\0",
    "core.worktree\n../work\0submodule.a/b.url\n../b\0submodule.a/b.active\ntrue\0user.name\nAda\0",
    "filter.lfs.clean\ngit-lfs clean -- %f\0filter.lfs.process\ngit-lfs filter-process\0filter.lfs.required\ntrue\0",
    "extensions.objectformat\nsha256\0gc.auto\n0\0core.bare\0",
    ""
  ])("is ordinary as git and git-lfs write it: %j", (listed) => {
    assert.deepStrictEqual(unusual(listed), [])
  })

  it.each([
    ["core.fsmonitor\ntouch x\0", "core.fsmonitor"],
    ["core.hookspath\n.githooks\0", "core.hookspath"],
    ["core.worktree\n/home/me\0", "core.worktree"],
    ["core.bare\nmaybe\0", "core.bare"],
    ["core.repositoryformatversion\n1; x\0", "core.repositoryformatversion"],
    ["extensions.partialclone\norigin\0", "extensions.partialclone"],
    ["extensions.objectformat\nmd5\0", "extensions.objectformat"],
    ["filter.lfs.clean\n./clean\0", "filter.lfs.clean"],
    ["filter.x.process\nx\0", "filter.x.process"],
    ["remote.o.url\next::sh -c x\0", "remote.o.url"],
    ["remote.o.pushurl\nhg::x\0", "remote.o.pushurl"],
    ["branch.a.remote\next::sh -c x\0", "branch.a.remote"],
    ["branch.a.pushremote\nhg::x\0", "branch.a.pushremote"],
    ["branch.a.remote\n--upload-pack=x\0", "branch.a.remote"],
    ["remote.o.uploadpack\nx\0", "remote.o.uploadpack"],
    ["remote.o.url\n--upload-pack=x\0", "remote.o.url"],
    ["submodule.s.update\n!x\0", "submodule.s.update"],
    ["submodule.s\nx.url\next::x\0", "submodule.s"],
    ["include.path\nx\0", "include.path"],
    ["includeif.onbranch:x.path\nx\0", "includeif.onbranch:x.path"],
    ["gc.recentobjectshook\nx\0", "gc.recentobjectshook"],
    ["init.templatedir\nx\0", "init.templatedir"],
    ["alias.st\n!x\0", "alias.st"],
    ["hook.x.command\nx\0", "hook.x.command"],
    ["something.new\nx\0", "something.new"]
  ])("says more with %j", (listed, key) => {
    assert.deepStrictEqual(unusual(listed), [key])
  })

  it("has no hook in the samples that git init copies", () => {
    assert.deepStrictEqual(["pre-commit.sample", "README", "pre-commit", "post-index-change"].filter(isHook), [
      "pre-commit",
      "post-index-change"
    ])
  })
})
