import { assert, describe, it } from "@effect/vitest"
import { hardened, hardenedSettings, subcommandAt } from "../src/gitHardening.ts"

const after = (words: ReadonlyArray<string>) => hardened(words).slice(hardenedSettings.length)

describe("the words for git", () => {
  it.each([
    [["status", "-z"], 0],
    [["-c", "a.b=status", "diff"], 2],
    [["--literal-pathspecs", "-C", "log", "--git-dir", "x", "show"], 5],
    [["--git-dir=x", "log"], 1],
    [["--version"], 1],
    [[], 0]
  ] as const)("have their subcommand: %j", (words, at) => assert.strictEqual(subcommandAt(words), at))

  it("get options that look into no submodule and start no program, before those of the caller", () => {
    assert.deepStrictEqual(after(["-c", "x.y=1", "status", "-z"]), [
      ...["-c", "x.y=1", "status", "--ignore-submodules=dirty", "-z"]
    ])
    const diff = after(["diff", "--ignore-submodules=none", "--end-of-options", "HEAD"])
    assert.includeMembers([...diff], ["--no-ext-diff", "--no-textconv", "--submodule=short"])
    assert.isBelow(diff.indexOf("--ignore-submodules=dirty"), diff.indexOf("--ignore-submodules=none"))
    assert.strictEqual(diff.at(-1), "HEAD")
    assert.deepStrictEqual(after(["rev-parse", "HEAD"]), ["rev-parse", "HEAD"])
  })
})
