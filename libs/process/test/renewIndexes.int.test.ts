/** A command can write into an index what git then believes without looking: of folders, of untracked files, of changes. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { foldersOf } from "../src/pathBytes.ts"
import { renewIndexes } from "../src/renewIndexes.ts"
import { workingTreeChanges } from "../src/workingTree.ts"

const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-index-")))
    const git = (...args: ReadonlyArray<string>) =>
      execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
        cwd: root,
        encoding: "utf8",
        stdio: "pipe"
      }).trim()
    const write = (path: string, text: string) => {
      mkdirSync(join(root, path, ".."), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    git("init", "--quiet", "--initial-branch=main")
    for (const path of ["a.txt", "src/b.txt", "src/deep/c.txt", "other/d.txt"]) write(path, `${path}\n`)
    git("add", "--all")
    git("commit", "--quiet", "-m", "begin")
    const index = join(root, ".git/index")
    /** Changes what the index says, with a checksum as git writes it. */
    const forge = (change: (content: Buffer) => Buffer) => {
      const body = change(readFileSync(index).subarray(0, -20))
      writeFileSync(index, Buffer.concat([body, createHash("sha1").update(body).digest()]))
    }
    const exchange = (from: string, to: string, encoding: BufferEncoding) =>
      forge((content) => {
        const at = content.lastIndexOf(Buffer.from(from, encoding))
        assert.notStrictEqual(at, -1, `${from} is in the index`)
        Buffer.from(to, encoding).copy(content, at)
        return content
      })
    const renew = renewIndexes(root, join(root, ".git"))
    return { root, git, write, index, exchange, renew }
  }),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)
type Repository = Effect.Success<typeof repository>

interface Forgery {
  readonly name: string
  readonly forge: (at: Repository) => void
  /** What git then says, and should say otherwise. */
  readonly ask: (at: Repository) => string
}

const evilTree = ({ git }: Repository) => {
  git("update-index", "--add", "--cacheinfo", `100644,${git("rev-parse", "HEAD:a.txt")},src/evil.txt`)
  const tree = git("write-tree")
  git("read-tree", "HEAD")
  return tree
}

const monitor = (root: string) => `core.fsmonitor=${join(root, ".git/monitor")}`

const forgeUntracked = ({ exchange, git, root, write }: Repository) => {
  // git looks again into a folder that is as new as the index.
  utimesSync(root, 1_000, 1_000)
  git("update-index", "--force-untracked-cache")
  git("status")
  git("status")
  exchange("other\0", "otter\0", "latin1")
  write("other/new.txt", "new\n")
}

const forgeries: ReadonlyArray<Forgery> = [
  {
    name: "the tree of a folder",
    forge: (at) => {
      const evil = at.git("rev-parse", `${evilTree(at)}:src`)
      at.exchange(at.git("rev-parse", "HEAD:src"), evil, "hex")
    },
    ask: ({ git }) => {
      git("commit", "--quiet", "--only", "--allow-empty", "-m", "next", "a.txt")
      return git("rev-parse", "HEAD:src")
    }
  },
  {
    name: "the tree of everything",
    forge: (at) => at.exchange(at.git("rev-parse", "HEAD^{tree}"), evilTree(at), "hex"),
    ask: ({ git }) => git("write-tree")
  },
  {
    name: "the tree of a folder in a folder",
    forge: (at) => at.exchange(at.git("rev-parse", "HEAD:src/deep"), at.git("rev-parse", "HEAD:other"), "hex"),
    ask: ({ git }) => git("write-tree", "--prefix=src/deep/")
  },
  {
    name: "that a folder has no untracked files",
    forge: forgeUntracked,
    ask: ({ git }) => git("status", "--porcelain")
  },
  {
    name: "that files did not change",
    forge: ({ git, root, write }) => {
      write(".git/monitor", "#!/bin/sh\nprintf 'token\\0'\n")
      chmodSync(join(root, ".git/monitor"), 0o755)
      git("-c", monitor(root), "update-index", "--fsmonitor")
      git("-c", monitor(root), "status")
      write("a.txt", "another\n")
    },
    ask: ({ git, root }) => git("-c", monitor(root), "status", "--porcelain")
  },
  {
    name: "how a conflict was",
    forge: ({ git, write }) => {
      git("checkout", "--quiet", "-b", "one")
      write("a.txt", "one\n")
      git("commit", "--quiet", "--all", "-m", "one")
      git("checkout", "--quiet", "-b", "two", "HEAD~")
      write("a.txt", "two\n")
      git("commit", "--quiet", "--all", "-m", "two")
      assert.throws(() => git("merge", "one"))
      git("add", "a.txt")
    },
    ask: ({ git }) => git("ls-files", "--resolve-undo")
  }
]

/** Entries with what git stored about the files, and their flags but for the one that says in which of two files an entry is. */
const entriesOf = ({ git }: Repository) =>
  git("ls-files", "--stage", "--debug", "-v").replaceAll("flags: 8000000", "flags: 0")

const states: ReadonlyArray<{ readonly name: string; readonly make: (at: Repository) => void }> = [
  { name: "as git wrote them", make: () => undefined },
  {
    name: "staged, deleted and to be added later",
    make: ({ git, write }) => {
      write("src/new.txt", "new\n")
      write("later/e.txt", "later\n")
      git("add", "src/new.txt")
      git("add", "--intent-to-add", "later/e.txt")
      git("rm", "--quiet", "--cached", "other/d.txt")
    }
  },
  {
    name: "with flags",
    make: ({ git }) => {
      git("update-index", "--assume-unchanged", "a.txt")
      git("update-index", "--skip-worktree", "src/b.txt")
    }
  },
  {
    name: "in conflict, with a folder of the name of a file",
    make: ({ git }) => {
      const hash = git("rev-parse", "HEAD:a.txt")
      const lines = [`100644 ${hash} 1\tsrc`, `100644 ${hash} 2\ta.txt`, `100644 ${hash} 3\ta.txt`]
      execFileSync("git", ["update-index", "--index-info"], {
        cwd: git("rev-parse", "--show-toplevel"),
        input: [`0 ${"0".repeat(40)}\ta.txt`, ...lines, ""].join("\n")
      })
      assert.include(git("ls-files", "--unmerged"), "1\tsrc")
    }
  },
  { name: "of the fourth version", make: ({ git }) => void git("update-index", "--index-version", "4") },
  {
    name: "with names that are not UTF-8",
    make: ({ git, root }) => {
      execFileSync("sh", ["-c", `d=$(printf 'n\\377'); mkdir "$d"; echo x > "$d/$d"`], { cwd: root })
      git("add", "--all")
    }
  },
  {
    name: "of a sparse checkout with whole folders",
    make: ({ git }) => {
      git("sparse-checkout", "set", "--cone", "--sparse-index", "src/deep")
      assert.include(git("ls-files", "--sparse"), "other/\n")
    }
  },
  { name: "in two files", make: ({ git }) => void git("update-index", "--split-index") },
  {
    name: "with a table of where they are",
    make: ({ git, index }) => {
      git("config", "index.threads", "2")
      git("-c", "index.recordOffsetTable=true", "update-index", "--force-remove", "none")
      assert.isTrue(readFileSync(index).includes("EOIE"))
    }
  }
]

describe("what an index says besides its entries", () => {
  it.live.each(forgeries)("is forgotten: $name", ({ ask, forge }) =>
    Effect.gen(function* () {
      const [deceived, renewed] = [yield* repository, yield* repository]
      forge(deceived)
      forge(renewed)
      yield* renewed.renew
      const seen = ["UNTR", "FSMN", "REUC"].filter((name) => readFileSync(renewed.index).includes(name))
      assert.deepStrictEqual(seen, [])
      assert.notStrictEqual(ask(renewed), ask(deceived))
    })
  )

  it.live.each(states)("goes, while the entries stay as they are: $name", ({ make }) =>
    Effect.gen(function* () {
      const at = yield* repository
      make(at)
      const before = entriesOf(at)
      yield* at.renew
      const extensions = ["UNTR", "FSMN", "REUC", "EOIE", "IEOT", "link", "sdir"]
      const content = readFileSync(at.index)
      assert.deepStrictEqual(
        extensions.filter((name) => content.includes(name)),
        []
      )
      for (const name of readdirSync(join(at.root, ".git"))) {
        if (name.startsWith("sharedindex")) rmSync(join(at.root, ".git", name))
      }
      assert.strictEqual(entriesOf(at), before)
    })
  )

  it.live("is forgotten once, and again only when the index is another", () =>
    Effect.gen(function* () {
      const { git, index, renew } = yield* repository
      yield* renew
      const { ino } = statSync(index)
      copyFileSync(index, `${index}.copy`)
      yield* renew
      assert.strictEqual(statSync(index).ino, ino)
      git("commit", "--quiet", "--allow-empty", "-m", "next")
      git("write-tree")
      yield* renew
      assert.isTrue(readFileSync(index).equals(readFileSync(`${index}.copy`)))
    })
  )

  it.live("is forgotten in submodules, but not in an index elsewhere to which one leads", () =>
    Effect.gen(function* () {
      const [made, other] = [yield* repository, yield* repository]
      made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.root, "sub")
      made.git("commit", "--quiet", "-m", "sub")
      const index = join(made.root, ".git/modules/sub/index")
      const [before, others] = [readFileSync(index), readFileSync(other.index)]
      yield* made.renew
      assert.isFalse(readFileSync(index).equals(before))
      made.git("-C", "sub", "status")

      rmSync(join(made.root, "sub/.git"))
      made.write("sub/.git", `gitdir: ${join(other.root, ".git")}\n`)
      yield* made.renew
      assert.isTrue(readFileSync(other.index).equals(others))
    })
  )

  it.live("is written nowhere else: a link in the place of the index is refused", () =>
    Effect.gen(function* () {
      const { index, renew, root } = yield* repository
      renameSync(index, join(root, "elsewhere"))
      symlinkSync(join(root, "elsewhere"), index)
      const before = readFileSync(join(root, "elsewhere"))
      const failed = yield* Effect.flip(renew)
      assert.propertyVal(failed.cause, "code", "ELOOP")
      assert.isTrue(readFileSync(join(root, "elsewhere")).equals(before))
    })
  )

  it.live("is not believed by Reprise's own look at the tree: that a folder has no untracked files", () =>
    Effect.gen(function* () {
      const at = yield* repository
      forgeUntracked(at)
      assert.strictEqual(at.git("status", "--porcelain"), "")
      const found = yield* workingTreeChanges(at.root, { untracked: "all" })
      assert.deepStrictEqual(found._tag === "failed" ? [] : found.changes, [{ code: "??", path: "other/new.txt" }])
    })
  )

  it.live("needs nothing where there is no index", () =>
    Effect.gen(function* () {
      const { index, renew } = yield* repository
      rmSync(index)
      yield* renew
      assert.throws(() => statSync(index))
    })
  )
})

describe("the folders of an index", () => {
  it("are each named once, the top too", () => {
    assert.deepStrictEqual([...foldersOf(["a", "b/c/d", "b/c/e", "b/f", "g/h/i"])], ["", "b/c/", "b/", "g/h/", "g/"])
  })
})
