import { assert, describe, it } from "@effect/vitest"
import { holderOf, isAbandoned, type ShownProcess } from "../src/gitLocks.ts"

const places = { common: "/w/.git", workTrees: ["/w", "/other"] }
const path = "/w/.git/index.lock"
const user = 1000
const git: ShownProcess = { pid: 7, name: "git", user, command: "git commit", folder: "/elsewhere", open: [] }

describe("a lock of git's may belong to", () => {
  it.each([
    ["a git that works in the working tree", { ...git, folder: "/w/src" }, true],
    ["a git that works in its directory", { ...git, folder: "/w/.git" }, true],
    ["a git that works in another worktree", { ...git, folder: "/other" }, true],
    ["a program of git's", { ...git, name: "git-remote-http", folder: "/w" }, true],
    ["a git that does not show where it works", { pid: 7, name: "git", user, command: "git" }, true],
    ["no git of another user", { ...git, user: 1, folder: "/w" }, false],
    ["any program that has it open", { ...git, name: "idea", open: ["/x", path] }, true],
    ["no git that works elsewhere", git, false],
    ["no git in a folder with a longer name", { ...git, folder: "/w2" }, false],
    ["no other program in the working tree", { ...git, name: "vim", folder: "/w" }, false],
    ["no program whose name begins alike", { ...git, name: "gitk", folder: "/w" }, false]
  ] as const)("%s", (_, process, mayBe) => {
    assert.deepStrictEqual(
      holderOf({ path, user }, places, [process]),
      mayBe ? { pid: 7, command: process.command } : undefined
    )
  })
})

describe("nobody owns a lock", () => {
  const now = 1_000_000
  it.each([
    ["that is old, and of which no process can be the owner", now - 10_000, [git], true],
    ["from a time to come, which somebody has set", now + 1, [], true],
    ["that is new: a process may have made it that is not shown", now - 9_999, [], false],
    ["that is old, but whose owner may be at work", now - 3_600_000, [{ ...git, folder: "/w" }], false],
    ["on a system that shows no processes", now - 3_600_000, undefined, false]
  ] as const)("%s", (_, modifiedMs, processes, expected) => {
    assert.strictEqual(isAbandoned({ path, user, modifiedMs, isFile: true }, places, processes, now), expected)
  })

  it("where it is no file", () => {
    const folder = { path, user, modifiedMs: now, isFile: false }
    assert.isTrue(isAbandoned(folder, places, [{ ...git, folder: "/w" }], now))
  })
})
