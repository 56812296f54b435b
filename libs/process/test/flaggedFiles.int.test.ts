/** Flags of the index by which git is told not to look at a file: a command of an agent can set them. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFlagged } from "../src/flaggedFiles.ts"
import { workingTreeChanges } from "../src/workingTree.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-flagged-")))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-C", root, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
        encoding: "utf8",
        stdio: "pipe"
      })
    const write = (path: string, text: string) => {
      mkdirSync(join(root, path, ".."), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    git("init", "-q", "-b", "main")
    write("test.sh", "exit 1\n")
    // Its content in the index ends lines otherwise.
    write("deep/crlf.txt", "one\r\n")
    write("other.txt", "other\r\n")
    write(".gitattributes", "*.txt text eol=crlf\n")
    symlinkSync("test.sh", join(root, "link"))
    git("add", "-A")
    git("commit", "-q", "-m", "Begin")
    const changes = Effect.map(workingTreeChanges(root, { untracked: "all" }), (found) =>
      found._tag === "failed" ? assert.fail(found.stderr) : found.changes.map(({ path }) => path)
    )
    return { root, git, write, changes }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

const flags = ["--assume-unchanged", "--skip-worktree"]

describe("a file that git was told not to look at", () => {
  it.live.each(flags)("is not a change while it is as it was: %s", (flag) =>
    Effect.gen(function* () {
      const { changes, git } = yield* repository
      git("update-index", flag, "test.sh", "deep/crlf.txt", "link")
      assert.deepStrictEqual(yield* changes, [])
    })
  )

  it.live.each(
    flags.flatMap((flag) =>
      (
        [
          ["has other content", (root: string) => writeFileSync(join(root, "test.sh"), "exit 0\n")],
          ["is gone", (root: string) => unlinkSync(join(root, "test.sh"))],
          ["may be run now", (root: string) => chmodSync(join(root, "test.sh"), 0o755)],
          [
            "is a link now",
            (root: string) => {
              unlinkSync(join(root, "test.sh"))
              symlinkSync("other.txt", join(root, "test.sh"))
            }
          ]
        ] as const
      ).map(([title, change]) => [flag, title, change] as const)
    )
  )("is a change with %s if it %s", ([flag, , change]) =>
    Effect.gen(function* () {
      const { changes, git, root } = yield* repository
      git("update-index", flag, "test.sh")
      change(root)
      assert.strictEqual(git("status", "--porcelain"), "")
      assert.deepStrictEqual(yield* changes, ["test.sh"])
    })
  )

  it.live("is a change if it is a link that leads elsewhere", () =>
    Effect.gen(function* () {
      const { changes, git, root } = yield* repository
      git("update-index", "--assume-unchanged", "link")
      unlinkSync(join(root, "link"))
      symlinkSync("other.txt", join(root, "link"))
      assert.deepStrictEqual(yield* changes, ["link"])
    })
  )

  it.live("is not missing where a sparse checkout left it out", () =>
    Effect.gen(function* () {
      const { changes, git } = yield* repository
      git("sparse-checkout", "set", "--no-cone", "/*", "!/deep")
      assert.include(git("ls-files", "-v"), "S deep/crlf.txt")
      assert.deepStrictEqual(yield* changes, [])
    })
  )

  it("is told by the letter that git writes", () => {
    assert.deepStrictEqual(readFlagged("H a\0h b c\0S d\0s e\nf\0M g\0"), [
      { path: "b c", skipped: false, assumed: true },
      { path: "d", skipped: true, assumed: false },
      { path: "e\nf", skipped: true, assumed: true }
    ])
  })
})
