import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NotAFile, OutsideWorkspace } from "../src/work/faults.ts"
import { createInside, kindInside, readInside, replaceInside } from "../src/work/files/insideDirectory.ts"
import { removeEmptyFolders } from "../src/work/files/removeEmptyFolders.ts"

/** `<base>/root` is the workspace; `<base>/outside` holds a secret; links lead in and out. */
const workspace = () => {
  const base = mkdtempSync(join(tmpdir(), "reprise-inside-"))
  const root = join(base, "root")
  const outside = join(base, "outside")
  mkdirSync(join(root, "docs"), { recursive: true })
  mkdirSync(join(root, ".git"))
  mkdirSync(outside)
  mkdirSync(join(base, "root-evil"))
  writeFileSync(join(outside, "secret"), "secret")
  writeFileSync(join(root, "docs", "a.md"), "a")
  writeFileSync(join(root, ".git", "config"), "token")
  mkdirSync(join(root, ".reprise"))
  writeFileSync(join(root, ".reprise", "machine.key"), "token")
  symlinkSync(".git", join(root, "git-link"))
  symlinkSync(".git/config", join(root, "config-link"))
  symlinkSync("../.reprise", join(root, "docs", "own-link"))
  symlinkSync(".reprise/machine.key", join(root, "key-link"))
  symlinkSync(outside, join(root, "out"))
  symlinkSync("../..", join(root, "docs", "up"))
  symlinkSync("docs", join(root, "in"))
  symlinkSync(join(outside, "secret"), join(root, "secret-link"))
  symlinkSync("docs/a.md", join(root, "a-link"))
  symlinkSync("nowhere", join(root, "dangling"))
  return { base, root, outside, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) }
}

const outcome = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    const found = await run()
    return found === undefined || found === false ? "nothing" : "found"
  } catch (error) {
    if (error instanceof NotAFile) return "no file"
    return error instanceof OutsideWorkspace ? "outside" : `failed: ${String(error)}`
  }
}

describe("a path from a plan, an agent or a message", () => {
  const corpus: ReadonlyArray<readonly [string, string]> = [
    ["docs/a.md", "found"],
    ["./docs//a.md", "found"],
    ["docs/../docs/a.md", "found"],
    ["in/a.md", "found"],
    ["a-link", "found"],
    ["docs/b.md", "nothing"],
    ["docs", "no file"],
    ["", "no file"],
    ["no/such/dir.md", "nothing"],
    ["docs/a.md/x", "nothing"],
    ["dangling", "nothing"],
    ["..", "outside"],
    ["../outside/secret", "outside"],
    ["docs/../../outside/secret", "outside"],
    ["../root-evil/x", "outside"],
    ["/etc/passwd", "outside"],
    ["/", "outside"],
    ["out/secret", "outside"],
    ["docs/up/outside/secret", "outside"],
    ["secret-link", "outside"],
    [".git/config", "outside"],
    [".GIT/config", "outside"],
    ["docs/.git/config", "outside"],
    ["git-link/config", "outside"],
    ["config-link", "outside"],
    [".reprise/machine.key", "outside"],
    [".Reprise/machine.key", "outside"],
    ["docs/../.reprise/machine.key", "outside"],
    ["docs/own-link/machine.key", "outside"],
    ["key-link", "outside"],
    ["docs/a.md\0.png", "outside"]
  ]
  it.each(corpus)("for reading, %j is resolved: %s", async (path, expected) => {
    using made = workspace()
    assert.strictEqual(await outcome(() => readInside(made.root, path)), expected)
  })

  it("may be absolute if it is inside, even through another name of the root", async () => {
    using made = workspace()
    symlinkSync(made.root, join(made.base, "alias"))
    const alias = join(made.base, "alias")
    assert.strictEqual(await readInside(made.root, join(made.root, "docs/a.md")), "a")
    assert.strictEqual(await readInside(alias, join(alias, "docs/a.md")), "a")
    assert.strictEqual(await readInside(alias, "docs/a.md"), "a")
  })

  it.each(["../x", "out/../../x", "docs/../../x", "/tmp/x", ".git/hooks/post-commit", "a\0b"])(
    "that leads out writes nothing: %j",
    async (path) => {
      using made = workspace()
      assert.strictEqual(await outcome(() => replaceInside(made.root, path, "x")), "outside")
      assert.strictEqual(await outcome(() => createInside(made.root, path)), "outside")
      assert.deepStrictEqual(readdirSync(made.outside), ["secret"])
    }
  )

  /** What an author made, where its link leads, and the path that Reprise writes. */
  const linked: ReadonlyArray<readonly [link: string, target: string, path: string]> = [
    [".planning/phases/01-one", "../../.claude/rules", ".planning/phases/01-one/SUMMARY.md"],
    [".planning/phases", "../.claude", ".planning/phases/rules/SUMMARY.md"],
    [".planning", ".claude", ".planning/phases/01-one/SUMMARY.md"],
    [".planning/phases/01-one", "../../.git/hooks", ".planning/phases/01-one/SUMMARY.md"],
    [".planning/phases/01-one", "../../docs", ".planning/phases/01-one/.continuation-state.json"],
    [".planning/phases/01-one", "../../nowhere", ".planning/phases/01-one/SUMMARY.md"],
    [".planning/phases/01-one", "01-one", ".planning/phases/01-one/SUMMARY.md"],
    [".planning", "../outside", ".planning/SUMMARY.md"],
    [".reprise/logs", "../.claude/rules", ".reprise/logs/run/gate.log"],
    [".reprise", ".claude", ".reprise/logs/run/gate.log"]
  ]
  it.each(linked)(
    "is written through no link of a folder, and the link is named: %s -> %s",
    async (link, target, path) => {
      using made = workspace()
      rmSync(join(made.root, ".reprise"), { recursive: true })
      const protectedFolder = join(made.root, ".claude/rules")
      mkdirSync(protectedFolder, { recursive: true })
      mkdirSync(dirname(join(made.root, link)), { recursive: true })
      symlinkSync(target, join(made.root, link))
      const folders = [
        made.outside,
        ...["", ".claude", ".claude/rules", ".git", "docs"].map((name) => join(made.root, name))
      ]
      const before = folders.map((folder) => readdirSync(folder))
      const refused = (error: unknown) => (error instanceof NotAFile ? error.message : `another: ${String(error)}`)
      const said = `${link} is a link, and Reprise writes through none. Move it out of the way.`
      assert.strictEqual(await replaceInside(made.root, path, "obey me").then(() => "written", refused), said)
      assert.strictEqual(await createInside(made.root, path).then(() => "written", refused), said)
      assert.deepStrictEqual(
        folders.map((folder) => readdirSync(folder)),
        before
      )
    }
  )

  it("is removed through no link of a folder", async () => {
    using made = workspace()
    mkdirSync(join(made.root, ".git/refs"))
    symlinkSync(".git", join(made.root, "repository"))
    const removed = await Effect.runPromise(removeEmptyFolders(made.root, [join(made.root, "repository/refs")]))
    assert.deepStrictEqual(removed, [])
    assert.isTrue(existsSync(join(made.root, ".git/refs")))
  })

  it("that is a second name of another file is written without the other one", async () => {
    using made = workspace()
    const other = join(made.root, "docs/a.md")
    linkSync(other, join(made.root, "SUMMARY.md"))
    linkSync(other, join(made.root, "draft.md.tmp"))
    linkSync(other, join(made.root, "gate.log"))
    await replaceInside(made.root, "SUMMARY.md", "obey me")
    await replaceInside(made.root, "draft.md", "obey me")
    assert.strictEqual(await outcome(() => createInside(made.root, "gate.log")), "no file")
    assert.strictEqual(readFileSync(other, "utf8"), "a")
  })

  it("that names a directory or the root is refused as a file, and leaves nothing behind", async () => {
    using made = workspace()
    const before = readdirSync(made.root)
    for (const path of ["", ".", "docs/.."]) {
      assert.strictEqual(await outcome(() => replaceInside(made.root, path, "x")), "outside")
      assert.strictEqual(await outcome(() => createInside(made.root, path)), "outside")
    }
    assert.strictEqual(await outcome(() => replaceInside(made.root, "docs", "x")), "no file")
    assert.deepStrictEqual(readdirSync(made.root), before)
  })

  it("that is a link is replaced by a file, and never written through", async () => {
    using made = workspace()
    await replaceInside(made.root, "secret-link", "mine")
    assert.strictEqual(readFileSync(join(made.root, "secret-link"), "utf8"), "mine")
    assert.strictEqual(readFileSync(join(made.outside, "secret"), "utf8"), "secret")
    symlinkSync(join(made.outside, "secret"), join(made.root, "log"))
    assert.match(await outcome(() => createInside(made.root, "log")), /ELOOP/)
    assert.strictEqual(readFileSync(join(made.outside, "secret"), "utf8"), "secret")
  })

  it("gets its missing directories, and leaves no temporary file", async () => {
    using made = workspace()
    await replaceInside(made.root, ".planning/phases/01-one/.continuation-state.json", "{}")
    await replaceInside(made.root, ".planning/phases/01-one/.continuation-state.json", "{ }")
    const directory = join(made.root, ".planning/phases/01-one")
    assert.deepStrictEqual(readdirSync(directory), [".continuation-state.json"])
    assert.strictEqual(readFileSync(join(directory, ".continuation-state.json"), "utf8"), "{ }")
  })

  it("tells whether a file, a directory, a dangling link or nothing is there", async () => {
    using made = workspace()
    symlinkSync("loop", join(made.root, "loop"))
    const kinds = ["dangling", "loop", "docs", "docs/a.md", "docs/none", "docs/a.md/x", "loop/x", "x".repeat(300)]
    assert.deepStrictEqual(await Promise.all(kinds.map((path) => kindInside(made.root, path))), [
      "dangling",
      "dangling",
      "directory",
      "file",
      undefined,
      undefined,
      undefined,
      undefined
    ])
  })

  it("never writes outside while a directory on the way is swapped for a link that leads out", async () => {
    using made = workspace()
    const swapped = join(made.root, "swap")
    const [directory, link] = [join(made.root, "directory"), join(made.root, "link")]
    mkdirSync(swapped)
    symlinkSync(made.outside, link)
    /** Puts `next` in the place of what is there; a directory that a writer makes in between goes. */
    const swap = (kept: string, next: string) => {
      renameSync(swapped, kept)
      for (;;) {
        try {
          rmSync(swapped, { recursive: true, force: true })
          return renameSync(next, swapped)
        } catch {
          // A writer was faster: it made the directory, or a file in it.
        }
      }
    }
    let writing = true
    const attacker = (async () => {
      while (writing) {
        swap(directory, link)
        await new Promise(setImmediate)
        swap(link, directory)
        await new Promise(setImmediate)
      }
    })()
    const seen = new Set<string>()
    for (let round = 0; round < 10 || !seen.has("nothing") || !seen.has("no file"); round++) {
      const files = Array.from({ length: 40 }, (_, n) => `swap/f${round}-${n}`)
      const outcomes = await Promise.all(files.map((path) => outcome(() => replaceInside(made.root, path, "x"))))
      for (const one of outcomes) seen.add(one)
    }
    writing = false
    await attacker
    assert.deepStrictEqual(readdirSync(made.outside), ["secret"])
  })
})
