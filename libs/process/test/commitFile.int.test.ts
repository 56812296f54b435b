/** What Reprise commits itself, in repositories whose index and objects a command has written. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commitFile } from "../src/commitFile.ts"

const path = "docs/reviews/*[1].md"
const identity = ["user.name=Ada", "user.email=ada@example.org"]

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-commit-")))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["--literal-pathspecs", ...identity.flatMap((one) => ["-c", one]), ...args], {
        cwd: root,
        encoding: "utf8",
        stdio: "pipe"
      }).trim()
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), text)
    }
    git("init", "--quiet", "--initial-branch=main")
    write(".git/info/exclude", ".reprise/\n")
    write("src/a.txt", "good\n")
    git("add", "--all")
    git("commit", "--quiet", "-m", "begin")
    const head = git("rev-parse", "HEAD")
    write(path, "# Review\n")
    const commit = (more: { readonly head?: string } = {}) => {
      const folder = join(root, ".reprise/trees/one")
      return Effect.scoped(commitFile(root, { head, path, identity, folder, message: "docs: review", ...more }))
    }
    const changed = () => git("show", "--raw", "--no-abbrev", "--format=%s", "HEAD").split("\n\n")
    return { root, git, write, head, commit, changed }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)
type Repository = Effect.Success<typeof repository>

/** Makes the index say that a folder is another tree than that of its entries; `git status` shows nothing. */
const forgeFolder = ({ git, root, write }: Repository) => {
  const good = git("rev-parse", "HEAD:src")
  write("src/a.txt", "evil\n")
  git("add", "src")
  const evil = git("write-tree", "--prefix=src/")
  git("restore", "--staged", "--worktree", "src")
  git("read-tree", "HEAD")
  git("update-index", "-q", "--refresh")
  const index = join(root, ".git/index")
  const body = readFileSync(index).subarray(0, -20)
  Buffer.from(evil, "hex").copy(body, body.indexOf(Buffer.from(good, "hex")))
  writeFileSync(index, Buffer.concat([body, createHash("sha1").update(body).digest()]))
}

describe("a commit of one file", () => {
  it.live("has only that file, whatever the index says of a folder", () =>
    Effect.gen(function* () {
      const at = yield* repository
      forgeFolder(at)
      assert.strictEqual(at.git("status", "--porcelain", "--", "src"), "")
      const done = yield* at.commit()
      assert.deepStrictEqual(done, { _tag: "Committed", head: at.git("rev-parse", "main") })
      assert.deepStrictEqual(at.git("diff", "--name-only", at.head, "HEAD"), path)
      assert.strictEqual(
        at.git("log", "-1", "--format=%P %an <%ae> %B"),
        `${at.head} Ada <ada@example.org> docs: review`
      )
      assert.strictEqual(at.git("reflog", "-1", "--format=%gs"), "commit: docs: review")
    })
  )

  it.live("leaves what else is staged, and the file as git knows it", () =>
    Effect.gen(function* () {
      const { commit, git, write } = yield* repository
      write("mine.txt", "mine\n")
      write("later.txt", "later\n")
      git("add", "mine.txt")
      git("add", "--intent-to-add", "later.txt")
      yield* commit()
      assert.strictEqual(git("status", "--porcelain"), "A later.txt\nA  mine.txt")
      assert.strictEqual(git("diff-files", "--name-only"), "later.txt")
    })
  )

  it.live.each([
    {
      name: "a link",
      make: ({ root }: Repository) => {
        rmSync(join(root, path))
        symlinkSync("../../src/a.txt", join(root, path))
      },
      mode: "120000"
    },
    { name: "a program", make: ({ root }: Repository) => chmodSync(join(root, path), 0o755), mode: "100755" },
    {
      name: "an ignored file",
      make: ({ write }: Repository) => write(".git/info/exclude", "docs/\n.reprise/\n"),
      mode: "100644"
    }
  ])("takes it for what it is: $name", ({ make, mode }) =>
    Effect.gen(function* () {
      const at = yield* repository
      make(at)
      yield* at.commit()
      assert.match(at.git("ls-tree", "-r", "HEAD", "docs"), new RegExp(`^${mode} `))
      assert.strictEqual(at.git("status", "--porcelain"), "")
    })
  )

  it.live("removes it where it is gone", () =>
    Effect.gen(function* () {
      const { commit, git, root } = yield* repository
      const first = yield* commit()
      rmSync(join(root, path))
      const second = yield* commit(first._tag === "Committed" ? { head: first.head } : {})
      assert.strictEqual(git("ls-tree", "-r", "--name-only", "HEAD"), "src/a.txt")
      assert.notDeepEqual(second, first)
      assert.strictEqual(git("status", "--porcelain"), "")
    })
  )

  it.live("is made once: what a crash left out of the index comes into it when it is repeated", () =>
    Effect.gen(function* () {
      const { commit, git } = yield* repository
      const first = yield* commit()
      git("rm", "--quiet", "--cached", "--", path)
      const head = git("rev-parse", "HEAD")
      assert.deepStrictEqual(yield* commit({ head }), first)
      assert.strictEqual(git("status", "--porcelain"), "")
    })
  )

  it.live.each(["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"])(
    "is not made while something waits to be committed: %s",
    (name) =>
      Effect.gen(function* () {
        const { commit, git, head, write } = yield* repository
        write(`.git/${name}`, `${head}\n`)
        const done = yield* commit()
        assert.containSubset(done, { _tag: "Refused", differences: [{ path: `git's ${name}` }] })
        assert.strictEqual(git("rev-parse", "HEAD"), head)
      })
  )

  it.live("fails where HEAD is another commit meanwhile, and leaves it so", () =>
    Effect.gen(function* () {
      const { commit, git } = yield* repository
      git("commit", "--quiet", "--allow-empty", "-m", "meanwhile")
      const head = git("rev-parse", "HEAD")
      assert.include((yield* Effect.flip(commit())).details, "cannot lock ref 'HEAD'")
      assert.strictEqual(git("rev-parse", "HEAD"), head)
    })
  )
})
