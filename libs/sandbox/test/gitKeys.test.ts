import { assert, describe, it } from "@effect/vitest"
import { namedByEnvironment, namedPathOf, needsGit, readListing, wordsOfCommand } from "../src/git/gitKeys.ts"

describe("a listing of git's", () => {
  it("has the file of each value, also of one with lines and of a key alone", () => {
    const listed = "file:.git/config\0core.bare\0file:/h/a\0alias.x\n!a\nb\0command line:\0core.pager\nless\0"
    assert.deepStrictEqual(
      readListing(listed, (path) => `/w/${path}`),
      [
        { key: "core.bare", file: "/w/.git/config" },
        { key: "alias.x", value: "!a\nb", file: "/w//h/a" },
        { key: "core.pager", value: "less" }
      ]
    )
  })

  it("may be empty", () => {
    assert.deepStrictEqual(
      readListing("", (path) => path),
      []
    )
  })
})

describe("a key of git's configuration", () => {
  it.each([
    ["include.path", "include"],
    ["includeif.onbranch:x.y.path", "include"],
    ["core.hookspath", "hooks"],
    ["core.attributesfile", "place"],
    ["core.excludesfile", "place"],
    ["init.templatedir", "place"],
    ["gpg.ssh.allowedsignersfile", "place"],
    ["http.sslcainfo", "place"],
    ["http.https://example.org/.sslkey", "place"],
    ["http.proxysslcert", "place"],
    ["core.sshcommand", "program"],
    ["core.fsmonitor", "program"],
    ["sequence.editor", "program"],
    ["credential.https://example.org.helper", "program"],
    ["filter.x.clean", "program"],
    ["filter.x.process", "program"],
    ["diff.external", "program"],
    ["diff.x.textconv", "program"],
    ["merge.x.driver", "program"],
    ["mergetool.x.path", "program"],
    ["gpg.program", "program"],
    ["gpg.ssh.defaultkeycommand", "program"],
    ["remote.origin.uploadpack", "program"],
    ["submodule.x.update", "program"],
    ["trailer.x.cmd", "program"],
    ["hook.x.command", "program"],
    ["pager.log", "program"],
    ["alias.x", "program"],
    ["commit.template", undefined],
    ["mailmap.file", undefined],
    ["blame.ignorerevsfile", undefined],
    ["core.worktree", undefined],
    ["branch.main.merge", undefined],
    ["remote.origin.url", undefined],
    ["user.name", undefined]
  ] as const)("%s names %s", (key, as) => {
    assert.deepStrictEqual(
      namedPathOf({ key, value: "x/y", file: "/f" }),
      as === undefined ? [] : [{ as, text: "x/y", file: "/f" }]
    )
  })

  it("names nothing without a value, and what is optional as if it were there", () => {
    assert.deepStrictEqual(namedPathOf({ key: "core.hookspath" }), [])
    assert.deepStrictEqual(namedPathOf({ key: "core.attributesfile", value: ":(optional)a" }), [
      { as: "place", text: "a" }
    ])
  })

  it("has paths that only git can resolve", () => {
    const needs = (text: string, as: "place" | "program" = "place") => needsGit({ as, text })
    assert.deepStrictEqual(
      ["~/a", "~me/a", "%(prefix)/a", "a/~", "%(x)/a"].map((text) => needs(text)),
      [true, true, true, false, false]
    )
    assert.isFalse(needs("~/a", "program"), "a shell does")
  })
})

describe("a variable of git's", () => {
  it("names a program or a folder", () => {
    assert.deepStrictEqual(
      namedByEnvironment({ GIT_SSH_COMMAND: "./ssh", GIT_TEMPLATE_DIR: "/t", GIT_DIR: "/d", EDITOR: "" }),
      [
        { as: "place", text: "/t" },
        { as: "program", text: "./ssh" }
      ]
    )
  })
})

describe("the words of a command line", () => {
  const paths = (text: string) =>
    wordsOfCommand(text, "/home/me")
      .filter(({ isPath }) => isPath)
      .map(({ path }) => path)
  it.each([
    ["tools/ssh.sh -v", ["tools/ssh.sh"]],
    ["node tools/clean.js %f", ["tools/clean.js"]],
    ["node clean.js", ["clean.js"]],
    ["!f() { ./tools/own; }; f", ["./tools/own"]],
    ["sh -c 'exec ./tools/smudge \"$@\"'", ["./tools/smudge"]],
    [`~/bin/x && $HOME/y || $\{HOME}/z`, ["/home/me/bin/x", "/home/me/y", "/home/me/z"]],
    ["A=./b c", ["./b"]],
    ["gcloud.sh", []],
    ["git-lfs clean -- %f", []],
    ["cd .. && ls ./ --file=a", []],
    ["less https://example.org/x", []]
  ])("in %s are files, there or not", (text, expected) => {
    assert.deepStrictEqual(paths(text), expected)
  })

  it("may be files that are there, in quotes with blanks and without an extension", () => {
    const words = wordsOfCommand("node 'my tools/clean' Makefile", "/h").map(({ path }) => path)
    assert.includeMembers([...words], ["my tools/clean", "Makefile"])
  })
})

describe("a command line that names a file of the working tree by way of a shell", () => {
  const all = (text: string) => wordsOfCommand(text, "/home/me").map(({ path }) => path)
  it.each([
    ['"$(git rev-parse --show-toplevel)/tools/x" %f', "tools/x"],
    ["`git rev-parse --show-toplevel`/tools/x", "tools/x"],
    ["$PWD/tools/x", "tools/x"],
    [`"$\{PWD}/tools/x"`, "tools/x"],
    ["sh -c 'tools/x \"$1\"' -", "tools/x"],
    ["./tools/x | y", "./tools/x"],
    ["true;tools/x", "tools/x"],
    ["node -r./tools/x a", "./tools/x"],
    ["node --require=tools/x a", "tools/x"],
    ["PATH=tools/bin:$PATH x", "tools/bin"],
    ["{ tools/x,tools/y; }", "tools/y"],
    ["tools/my\\ x", "tools/my x"],
    ["!exec tools/x", "tools/x"],
    ["A=$HOME/tools/x a", "/home/me/tools/x"]
  ])("names it: %s", (text, path) => {
    assert.include(all(text), path)
  })
})
