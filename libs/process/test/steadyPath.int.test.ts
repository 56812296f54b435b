import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { steadyPath, steadyPathOrAbove, UnsteadyPath } from "../src/steadyPath.ts"

describe("where a path leads for every program alike", () => {
  let root = ""
  const at = (path: string) => `${root}/${path}`
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-steady-")))
    mkdirSync(at("a/b/c"), { recursive: true })
    writeFileSync(at("a/file"), "")
    symlinkSync("a/b", at("link"))
    symlinkSync(at("link/c"), at("chain"))
    symlinkSync("nowhere", at("broken"))
    symlinkSync("round", at("round"))
    symlinkSync("/proc/self/cwd", at("cwd"))
    symlinkSync("/", at("top"))
    symlinkSync("top/proc/self/root", at("behind"))
    symlinkSync("/dev/fd", at("fd"))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it.each([
    "a",
    "a/file",
    "link",
    "link/c",
    "chain",
    "link/..",
    "chain/../../file",
    "./a//b/",
    "a/b/../file",
    "top/usr"
  ])("is the real path: %s", (path) => {
    assert.strictEqual(steadyPath(at(path)), realpathSync.native(at(path)))
    assert.strictEqual(steadyPathOrAbove(at(path)), realpathSync.native(at(path)))
  })

  it.each([
    ["a/none/deeper", "a/none/deeper"],
    ["link/none", "a/b/none"]
  ])("is below what exists: %s", (path, expected) => assert.strictEqual(steadyPathOrAbove(at(path)), at(expected)))

  it.each(["broken", "broken/below", "round", "round/below", "none"])("is none as it is for realpath: %s", (path) => {
    assert.throws(() => steadyPath(at(path)), /ENOENT|elsewhere/)
  })

  it.runIf(process.platform === "linux").each(["cwd", "cwd/x/y", "behind/etc", "fd", "fd/0", "top/proc/self/cwd/x"])(
    "is none where a link of the kernel is on the way: %s",
    (path) => {
      assert.throws(() => steadyPath(at(path)), UnsteadyPath)
      assert.throws(() => steadyPathOrAbove(at(path)), UnsteadyPath)
    }
  )
})
