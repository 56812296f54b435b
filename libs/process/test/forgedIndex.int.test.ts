/** Indexes that a command wrote itself: git believes them, and would write where their entries say. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { forgedIndexIn } from "../src/forgedIndex.ts"
import { type ForgedEntry, forgedIndex, type IndexVersion, withChecksum } from "../src/testing.ts"

const repositoryOf = (format: "sha1" | "sha256") =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-forged-")))
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
          cwd: root,
          encoding: "utf8",
          stdio: "pipe"
        }).trim()
      git("init", "--quiet", `--object-format=${format}`)
      for (const path of ["a.txt", "src/b.txt", "src/deep/c.txt"]) {
        mkdirSync(join(root, path, ".."), { recursive: true })
        writeFileSync(join(root, path), `${path}\n`)
      }
      git("add", "--all")
      git("commit", "--quiet", "-m", "begin")
      const directory = join(root, ".git")
      const index = join(directory, "index")
      const hook = (): ForgedEntry => {
        const hash = execFileSync("git", ["hash-object", "-w", "--stdin"], {
          cwd: root,
          encoding: "utf8",
          input: `#!/bin/sh\ntouch ${root}/ran\n`
        }).trim()
        return { path: ".git/hooks/post-checkout", mode: "100755", hash, isHidden: true }
      }
      const honest = (path: string): ForgedEntry => ({ path, mode: "100644", hash: git("rev-parse", `HEAD:${path}`) })
      const write = (content: Buffer) => writeFileSync(index, content)
      const forgeries = Effect.promise(async () => (await forgedIndexIn(directory))?.says ?? [])
      return { root, git, directory, index, hook, honest, write, forgeries }
    }),
    ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
  )
const repository = repositoryOf("sha1")
type Repository = Effect.Success<typeof repository>

const extension = (name: string, content: Buffer): Buffer => {
  const size = Buffer.alloc(4)
  size.writeUInt32BE(content.length)
  return Buffer.concat([Buffer.from(name), size, content])
}

const numbers = (...all: ReadonlyArray<number>): Buffer => {
  const content = Buffer.alloc(4 * all.length)
  for (const [at, one] of all.entries()) content.writeUInt32BE(one, 4 * at)
  return content
}

const bodyOf = (index: Buffer) => index.subarray(0, -20)

/** A split index: the other file has the entries, and this one may replace some. */
const split = (at: Repository, base: ReadonlyArray<ForgedEntry>) => {
  const shared = forgedIndex(base, 2)
  const hash = shared.subarray(-20)
  writeFileSync(join(at.directory, `sharedindex.${hash.toString("hex")}`), shared)
  const noBits = Buffer.concat([numbers(0, 0), numbers(0)])
  at.write(forgedIndex([], 2, extension("link", Buffer.concat([hash, noBits, noBits]))))
}

const forgeries: ReadonlyArray<{ readonly name: string; readonly forge: (at: Repository) => void }> = [
  ...([2, 3, 4] as const satisfies ReadonlyArray<IndexVersion>).map((version) => ({
    name: `of version ${version}`,
    forge: (at: Repository) => at.write(forgedIndex([at.honest("a.txt"), at.hook()], version))
  })),
  {
    name: "of version 4, by a path that goes on with another one",
    forge: (at) => at.write(forgedIndex([at.hook(), { ...at.honest("a.txt"), path: ".gitignore" }], 4))
  },
  {
    name: "outside of the tree",
    forge: (at) => at.write(forgedIndex([{ ...at.honest("a.txt"), path: "../home/.bashrc" }]))
  },
  {
    name: "of a submodule inside of .git",
    forge: (at) => at.write(forgedIndex([{ path: ".git/zz", mode: "160000", hash: at.git("rev-parse", "HEAD") }]))
  },
  {
    name: "of a submodule in Reprise's folder, which git itself makes",
    forge: (at) =>
      void at.git("update-index", "--add", "--cacheinfo", `160000,${at.git("rev-parse", "HEAD")},.reprise/sandbox/zz`)
  },
  {
    name: "below a link",
    forge: (at) =>
      at.write(
        forgedIndex([
          { ...at.honest("a.txt"), path: "l", mode: "120000" },
          { ...at.honest("a.txt"), path: "l/x" }
        ])
      )
  },
  { name: "in the other file of a split one", forge: (at) => split(at, [at.hook()]) },
  {
    name: "longer than its flags can say",
    forge: (at) => at.write(forgedIndex([{ ...at.honest("a.txt"), path: `${"long/".repeat(1000)}../x` }]))
  }
]

const unclear: ReadonlyArray<{ readonly name: string; readonly make: (at: Repository) => Buffer }> = [
  { name: "an empty file", make: () => Buffer.alloc(0) },
  { name: "another file", make: () => Buffer.from("something else, and longer than a header of any index is") },
  {
    name: "of a version to come",
    make: (at) => withChecksum(Buffer.from(bodyOf(readFileSync(at.index))).fill(5, 7, 8))
  },
  {
    name: "with fewer entries than it says",
    make: (at) => withChecksum(Buffer.from(bodyOf(readFileSync(at.index))).fill(9, 11, 12))
  },
  {
    name: "with a path that goes on after its end",
    make: (at) => {
      const body = Buffer.from(bodyOf(forgedIndex([at.honest("a.txt")], 2)))
      // The length in its flags.
      body.writeUInt16BE(9, 12 + 60)
      return withChecksum(body)
    }
  },
  {
    name: "with a table by which threads find other entries",
    make: (at) => {
      const table = extension("IEOT", numbers(1, 400, 1))
      return forgedIndex([at.honest("a.txt")], 2, Buffer.concat([table, Buffer.alloc(0)]))
    }
  },
  {
    name: "with a table of another end, which a part without meaning hides",
    make: (at) => {
      const end = extension("EOIE", Buffer.concat([numbers(12), createHash("sha1").digest()]))
      return forgedIndex([at.honest("a.txt")], 2, extension("ZZZZ", end))
    }
  },
  {
    name: "that goes on in a file that is not there",
    make: (at) => forgedIndex([at.honest("a.txt")], 2, extension("link", Buffer.alloc(20, 7)))
  },
  { name: "with a piece at its end", make: (at) => forgedIndex([at.honest("a.txt")], 2, Buffer.from("odd")) }
]

const honest: ReadonlyArray<{ readonly name: string; readonly make: (at: Repository) => void }> = [
  { name: "as git wrote it", make: () => undefined },
  { name: "gone", make: ({ index }) => rmSync(index) },
  {
    name: "with what is staged, deleted, and to be added later",
    make: ({ git, root }) => {
      writeFileSync(join(root, "new.txt"), "new\n")
      writeFileSync(join(root, "later.txt"), "later\n")
      git("add", "new.txt")
      git("add", "--intent-to-add", "later.txt")
      git("rm", "--quiet", "--cached", "src/b.txt")
    }
  },
  { name: "of the fourth version", make: ({ git }) => void git("update-index", "--index-version", "4") },
  {
    name: "with names of any length, which are not UTF-8",
    make: ({ git, root }) => {
      const long = join(root, ...Array.from({ length: 18 }, () => "x".repeat(240)))
      execFileSync("sh", ["-c", 'd=$(printf \'n\\377\'); mkdir "$d"; echo x > "$d/$d"'], { cwd: root })
      assert.isAbove(long.length, 0xfff)
      git(
        "update-index",
        "--add",
        "--cacheinfo",
        `100644,${git("rev-parse", "HEAD:a.txt")},${long.slice(root.length + 1)}`
      )
      git("add", "--all", "--", ":!x*")
    }
  },
  {
    name: "of a sparse checkout with whole folders",
    make: ({ git }) => void git("sparse-checkout", "set", "--cone", "--sparse-index", "other")
  },
  {
    name: "in two files",
    make: ({ git, root }) => {
      git("update-index", "--split-index")
      writeFileSync(join(root, "a.txt"), "another\n")
      git("add", "a.txt")
      assert.include(git("ls-files", "--stage"), git("hash-object", "a.txt"))
    }
  },
  {
    name: "with tables of where its entries are",
    make: ({ git, index }) => {
      for (const version of ["2", "4"]) {
        git(
          "-c",
          "index.threads=2",
          "-c",
          "index.recordOffsetTable=true",
          "-c",
          "index.recordEndOfIndexEntries=true",
          "update-index",
          "--force-write-index",
          "--index-version",
          version
        )
        assert.isTrue(readFileSync(index).includes("EOIE"))
      }
    }
  },
  {
    name: "in conflict, with a folder of the name of a link",
    make: ({ git, root }) => {
      const hash = git("rev-parse", "HEAD:a.txt")
      execFileSync("git", ["update-index", "--index-info"], {
        cwd: root,
        input: `120000 ${hash} 1\tsrc\n120000 ${hash} 2\tsrc\n`
      })
    }
  }
]

describe("an index with entries that git never makes", () => {
  it.live.each(forgeries)("is noticed: $name", ({ forge }) =>
    Effect.gen(function* () {
      const at = yield* repository
      forge(at)
      assert.match((yield* at.forgeries).join(), /^the entry ".*"$/)
    })
  )

  it.live.each(unclear)("may be one that is read in more than one way: $name", ({ make }) =>
    Effect.gen(function* () {
      const at = yield* repository
      at.write(make(at))
      assert.match((yield* at.forgeries).join(), /^an index that git does not write: /)
    })
  )

  it.live.each(honest)("is none that git made: $name", ({ make }) =>
    Effect.gen(function* () {
      const at = yield* repository
      make(at)
      assert.deepStrictEqual(yield* at.forgeries, [])
    })
  )

  it.live("is none in a repository whose objects are named by SHA-256", () =>
    Effect.gen(function* () {
      const at = yield* repositoryOf("sha256")
      assert.deepStrictEqual(yield* at.forgeries, [])
      at.write(forgedIndex([at.honest("a.txt")]))
      assert.lengthOf(yield* at.forgeries, 1)
    })
  )
})
