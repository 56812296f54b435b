import { assert, describe, it } from "@effect/vitest"
import { gateOutput, PhaseId, RunId } from "@reprise/protocol"
import { Schema } from "effect"
import { childEnvironment } from "../src/domain/childEnvironment.ts"
import { isCommitName, quoted } from "../src/domain/commitHash.ts"
import { dirtyPaths } from "../src/domain/gitStatus.ts"
import { commandSlugs, qualityLog } from "../src/domain/logName.ts"
import { addOutput, emptyWindow, windowText } from "../src/domain/OutputWindow.ts"
import { isAmong, isOwnFile, some } from "../src/domain/ownFiles.ts"

const result = { command: "make", exitCode: 1, durationMs: 1, timedOut: false, logRef: "x.log" }

describe("the window of an output", () => {
  const shown = (text: string, sizeBytes: number, chunkBytes: number) => {
    const bytes = new TextEncoder().encode(text)
    let window = emptyWindow(sizeBytes)
    for (let at = 0; at < bytes.length; at += chunkBytes)
      window = addOutput(window, bytes.subarray(at, at + chunkBytes))
    return windowText(window)
  }

  it.each([1, 2, 3, 7, 100])("keeps the beginning and the end, whatever the chunks (%i bytes)", (chunk) => {
    assert.deepStrictEqual(shown("abcdefghijklmnop", 4, chunk), { head: "abcd", tail: "mnop" })
    assert.deepStrictEqual(shown("abcdefghi", 4, chunk), { head: "abcd", tail: "fghi" })
    assert.deepStrictEqual(shown("abcdefgh", 4, chunk), { head: "abcd", tail: "efgh", overlap: 0 })
    assert.deepStrictEqual(shown("abcdef", 4, chunk), { head: "abcd", tail: "cdef", overlap: 2 })
    assert.deepStrictEqual(shown("abcd", 4, chunk), { head: "abcd", tail: "abcd", overlap: 4 })
    assert.deepStrictEqual(shown("abc", 4, chunk), { head: "abc", tail: "abc", overlap: 3 })
    assert.deepStrictEqual(shown("", 4, chunk), { head: "", tail: "", overlap: 0 })
  })

  it.each([1, 3, 5])("cuts no character in two (%i bytes)", (chunk) => {
    assert.deepStrictEqual(shown("aäöüß€😀z", 4, chunk), { head: "aä", tail: "z" })
    assert.deepStrictEqual(shown("ab€cd", 4, chunk), { head: "ab", tail: "€cd", overlap: 0 })
  })

  it.prop("gives a short output whole, nothing of it twice", [Schema.String], ([text]) => {
    const window = shown(text, 64, 5)
    if (new TextEncoder().encode(text).length <= 128) {
      assert.strictEqual(gateOutput({ ...result, ...window }), text.toWellFormed())
    }
  })
})

describe("git status", () => {
  it.each([
    ["", []],
    [" M a.ts\0?? b c.ts\0", ["a.ts", "b c.ts"]],
    ["R  new.ts\0old.ts\0 M x\0", ["new.ts", "old.ts", "x"]],
    ["?? dir/\0", ["dir/"]],
    ["A  with\nline\0", ["with\nline"]]
  ])("reads %j", (text, paths) => {
    assert.deepStrictEqual(dirtyPaths(text), paths)
  })
})

describe("names of commits", () => {
  it.each(["abcd", "ABCDEF12", "a".repeat(40), "0".repeat(64)])("takes %s", (name) => {
    assert.isTrue(isCommitName(name))
  })
  it.each([
    "",
    "abc",
    "a".repeat(65),
    "main",
    "HEAD",
    "HEAD~1",
    "a..b",
    "-abcd",
    "--all",
    "abcd\n",
    "abcd efgh",
    "ghij",
    "@"
  ])("refuses %j", (name) => {
    assert.isFalse(isCommitName(name))
  })
  it("shows hostile text on one short line", () => {
    assert.strictEqual(quoted("a\u001b[2J\nb\u2028"), "'a?[2J?b?'")
    assert.isBelow(quoted("x".repeat(5_000)).length, 90)
  })
})

describe("files of Reprise", () => {
  it.each([
    [".reprise/logs/x", true],
    [".planning/phases/01-a/.continuation-state.json", true],
    [".planning/phases/01-a/SUMMARY.md", true],
    [".planning/notes.md", false],
    ["SUMMARY.md", false],
    [".repriseful/x", false],
    ["src/.reprise/x", false],
    [".continuation-state.json", false]
  ])("%s: %s", (path, own) => {
    assert.strictEqual(isOwnFile(path), own)
  })
  it("finds a path in a list of files and directories", () => {
    assert.isTrue(isAmong("a/b/c", ["x", "a/"]))
    assert.isFalse(isAmong("ab/c", ["a/", "ab"]))
  })
  it("names the first of many", () => {
    assert.strictEqual(some(["a", "b", "c"], 2), "a, b and 1 more")
  })
})

describe("log files", () => {
  it("get a name per command", () => {
    const slugs = commandSlugs(["npm test", "npm  test!", "../../x", "; rm -rf /", "…"])
    assert.deepStrictEqual(slugs, ["npm-test", "npm-test-2", "x", "rm-rf", "command"])
    assert.strictEqual(
      qualityLog(RunId.make("r1"), PhaseId.make("2.1"), 3, "npm-test"),
      ".reprise/logs/r1/quality-phase2.1-attempt3-npm-test.log"
    )
  })
})

describe("the environment of commands", () => {
  it("leaves out git's, Reprise's and the broker's variables and keeps the rest", () => {
    assert.deepStrictEqual(
      childEnvironment({
        PATH: "/bin",
        DATABASE_URL: "x",
        GITHUB_TOKEN: "y",
        GIT_DIR: "z",
        REPRISE_NATS: "z",
        NATS_URL: "z",
        OPENCODE_SERVER_PASSWORD: "z",
        ABSENT: undefined
      }),
      { PATH: "/bin", DATABASE_URL: "x", GITHUB_TOKEN: "y" }
    )
  })
})
