import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { findBlockingFile } from "../src/blockingFile.ts"
import { ForeignFileRefused, type ProgramFailed, runGit } from "../src/index.ts"
import { oddFiles } from "../src/testing.ts"

/** With a commit, and a linked worktree of it. */
const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-blocking-")))
    const root = join(folder, "main")
    mkdirSync(join(root, "deep", "er"), { recursive: true })
    const git = (...args: ReadonlyArray<string>) => execFileSync("git", ["-C", root, ...args], { stdio: "pipe" })
    git("init", "--quiet")
    const user = ["-c", "user.name=Test", "-c", "user.email=test@reprise.invalid"]
    writeFileSync(join(root, "file"), "text\n")
    git("add", ".")
    git(...user, "commit", "--quiet", "--message", "First")
    git("worktree", "add", "--quiet", "../linked")
    return { root, linked: join(folder, "linked"), folder }
  }),
  ({ folder }) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const pipe = (path: string) => {
  rmSync(path, { force: true })
  mkdirSync(dirname(path), { recursive: true })
  execFileSync("mkfifo", [path])
  return path
}

describe("the file on which git blocks", () => {
  it.live.each([
    ".gitignore",
    "deep/er/.gitattributes",
    ".mailmap",
    "deep/.gitmodules",
    ".git/info/exclude",
    ".git/HEAD",
    ".git/objects/ab/cdef",
    "deep/nested/.git/HEAD",
    "node_modules/package/.gitignore"
  ])("is found where %s is a named pipe", (path) =>
    Effect.gen(function* () {
      const { root } = yield* repository
      const blocking = pipe(join(root, path))
      const found = yield* findBlockingFile(join(root, "deep"))
      assert.containSubset(found, { path: blocking, code: "ENOTAFILE", what: "is a named pipe" })
    })
  )

  it.live("is found in the repository that a linked worktree shares", () =>
    Effect.gen(function* () {
      const { linked, root } = yield* repository
      const blocking = pipe(join(root, ".git/info/attributes"))
      assert.strictEqual((yield* findBlockingFile(linked))?.path, blocking)
    })
  )

  it.live.each(oddFiles)("is told apart where .gitignore is $name", ({ name, put }) =>
    Effect.gen(function* () {
      const { root } = yield* repository
      const remove = yield* Effect.promise(() => put(join(root, ".gitignore")))
      const found = yield* findBlockingFile(root)
      assert.strictEqual(found !== undefined, /pipe|device|zero|terabyte/.test(name))
      remove()
    })
  )

  it.live.each([
    { name: "an included file", text: '[include] path = "../../pipe" ; ours' },
    { name: "an included file under a condition", text: '[includeIf "gitdir:**"]\n\tpath = ../..\\\n/pipe' },
    { name: "a file of attributes", text: "[core] attributesFile = ../pipe" },
    { name: "a file of patterns", text: "[Core] ExcludesFile = ../pipe" },
    { name: "names for people", text: "[mailmap] file = ../pipe" }
  ])("is found where an included configuration names it as $name", ({ text }) =>
    Effect.gen(function* () {
      const { folder, root } = yield* repository
      writeFileSync(join(root, ".git/included"), text)
      appendFileSync(join(root, ".git/config"), "[include]\n\tpath = included\n")
      const blocking = pipe(join(folder, "pipe"))
      assert.strictEqual((yield* findBlockingFile(root))?.path, blocking)
    })
  )

  it.live("is none where a setting that names no file only looks like a path", () =>
    Effect.gen(function* () {
      const { folder, root } = yield* repository
      appendFileSync(join(root, ".git/config"), '[branch "main"]\n\tremote = ../../pipe\n\tdescription = ../pipe\n')
      pipe(join(folder, "pipe"))
      assert.isUndefined(yield* findBlockingFile(root))
    })
  )

  it.live("is none where the configuration names a device, or a large file, for a good reason", () =>
    Effect.gen(function* () {
      const { folder, root } = yield* repository
      const bundle = join(folder, "large.bundle")
      writeFileSync(bundle, "")
      truncateSync(bundle, 200 * 1024 * 1024)
      const configure = (key: string, value: string) => execFileSync("git", ["-C", root, "config", key, value])
      configure("core.excludesFile", "/dev/null")
      configure("remote.origin.url", bundle)
      assert.isUndefined(yield* findBlockingFile(root))
    })
  )

  it.live("is none in an ordinary tree, with links in circles, and where there is no repository", () =>
    Effect.gen(function* () {
      const { folder, root } = yield* repository
      symlinkSync(root, join(root, "deep", "circle"))
      pipe(join(root, "file.pipe"))
      assert.isUndefined(yield* findBlockingFile(root))
      pipe(join(folder, ".gitignore"))
      assert.isUndefined(yield* findBlockingFile(folder))
    })
  )
})

describe("git that would wait forever", () => {
  const calls: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    [".gitignore", ["status"]],
    ["deep/.gitignore", ["ls-files", "--others", "--exclude-standard"]],
    [".gitattributes", ["cat-file", "--filters", "HEAD:file"]],
    [".mailmap", ["log"]],
    [".git/index", ["ls-files"]]
  ]
  it.live("is ended, and its failure names the file", () =>
    Effect.forEach(
      calls,
      Effect.fnUntraced(function* ([path, args]) {
        const { root } = yield* repository
        writeFileSync(join(root, "deep", "new"), "")
        const blocking = pipe(join(root, path))
        const failure: ProgramFailed = yield* Effect.flip(runGit(root, args))
        assert.strictEqual(failure.reason, "blocked")
        assert.instanceOf(failure.cause, ForeignFileRefused)
        assert.include(failure.message, `${blocking} is a named pipe.`)
      }),
      { concurrency: "unbounded" }
    )
  )

  it.live("ends at once when it is interrupted", () =>
    Effect.gen(function* () {
      const { root } = yield* repository
      pipe(join(root, ".gitignore"))
      const running = yield* Effect.forkChild(runGit(root, ["status"]), { startImmediately: true })
      yield* Fiber.interrupt(running)
      assert.isTrue((yield* Fiber.await(running))._tag === "Failure")
    })
  )
})
