/**
 * Objects that a repository lacks and a remote has promised: git would fetch each when it needs it, by programs that the
 * repository names. A git as Reprise runs it fetches nothing by itself.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { runGit } from "../src/runGit.ts"
import { withoutRuntimeChanges, workingTreeChanges } from "../src/workingTree.ts"
import { knownKeys, sectionOf } from "./support/gitKeys.ts"

const git = (directory: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", directory, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 60_000
  }).trim()

const attempt = (directory: string, ...args: ReadonlyArray<string>): void => {
  try {
    git(directory, ...args)
  } catch {
    // What is missing.
  }
}

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-missing-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Two commits of one file. Gives the working tree and where each object of the newest is. */
const repositoryIn = (root: string) => {
  const work = join(root, "work")
  mkdirSync(work)
  git(work, "init", "-q", "-b", "main")
  for (const text of ["one\n", "two\n"]) {
    writeFileSync(join(work, "file"), text)
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", text)
  }
  const placeOf = (name: string) => {
    const hash = git(work, "rev-parse", name)
    return join(work, ".git", "objects", hash.slice(0, 2), hash.slice(2))
  }
  return { work, missing: { commit: placeOf("HEAD"), tree: placeOf("HEAD^{tree}"), blob: placeOf("HEAD:file") } }
}

/** Of that repository, without the content of files that are not checked out. */
const partialClone = Effect.map(folder, (root) => {
  const { work } = repositoryIn(root)
  git(work, "config", "uploadpack.allowFilter", "true")
  const clone = join(root, "clone")
  git(root, "-c", "protocol.file.allow=always", "clone", "-q", "--filter=blob:none", `file://${work}`, clone)
  return { clone, root }
})

const promised = (url: string): string =>
  [
    sectionOf("core.repositoryformatversion", "1"),
    sectionOf("extensions.partialClone", "x"),
    sectionOf("remote.x.promisor", "true"),
    sectionOf("remote.x.url", url)
  ].join("")

/** The ways to another repository for which git starts programs, each with settings that name one. */
const ways: ReadonlyArray<readonly [url: string, obeyed: ReadonlyArray<string>]> = [
  [".", ["remote.x.uploadpack"]],
  ["ssh://127.0.0.1:1/x", ["core.sshCommand"]],
  ["git://127.0.0.1:1/x", ["core.gitProxy"]]
]

/** Without those that keep git from fetching at all. */
const isTried = (key: string): boolean =>
  /^(core|remote|fetch|transfer|protocol|ssh|http|credential|uploadpack|hook|bundle|url|gc|maintenance)\./i.test(key) &&
  !/^(core\.(bare|worktree|repositoryformatversion)|remote\.x\.(url|promisor|vcs))$/i.test(key)

const looks: ReadonlyArray<ReadonlyArray<string>> = [
  ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"],
  ["log", "--patch", "-2"],
  ["diff", "--patch", "HEAD"],
  ["diff", "HEAD~1", "HEAD"],
  ["cat-file", "--filters", "HEAD:file"],
  ["rev-list", "--objects", "HEAD"],
  ["merge-base", "HEAD", "HEAD~1"],
  ["worktree", "add", "--force", "--detach", "../other", "HEAD"]
]

const hasLargeFiles = (() => {
  try {
    execFileSync("git-lfs", ["version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

/** A repository with a file of Git LFS that is here, one that is not, and a server that the tree names. */
const largeFilesIn = (root: string, port: number) => {
  const work = join(root, "work")
  const other = { ...process.env, HOME: root, GIT_CONFIG_NOSYSTEM: "1" }
  const run = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-C", work, ...args], { env: other, stdio: "pipe" })
  mkdirSync(work)
  run("init", "-q", "-b", "main")
  writeFileSync(join(root, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n")
  execFileSync("git-lfs", ["install", "--local", "--skip-smudge"], { cwd: work, env: other, stdio: "pipe" })
  for (const [key, value] of [
    ["smudge", "git-lfs smudge -- %f"],
    ["process", "git-lfs filter-process"]
  ] as const)
    run("config", `filter.lfs.${key}`, value)
  writeFileSync(join(work, ".gitattributes"), "*.json filter=lfs\n")
  writeFileSync(join(work, ".lfsconfig"), `[lfs]\n\turl = http://127.0.0.1:${port}/of-the-tree\n`)
  writeFileSync(join(work, "here.json"), "{}\n")
  writeFileSync(
    join(work, "opencode.json"),
    `version https://git-lfs.github.com/spec/v1\noid sha256:${"5e".repeat(32)}\nsize 12\n`
  )
  run("add", "-A")
  run("commit", "-q", "-m", "x")
  return { work, environment: other }
}

describe.skipIf(!hasLargeFiles)("git with Git LFS, as Reprise runs it", () => {
  it.live("asks no server that the tree names, and checks out the files that are here", () =>
    Effect.gen(function* () {
      const asked: Array<string | undefined> = []
      const server = yield* Effect.acquireRelease(
        Effect.callback<Server>((resume) => {
          const made = createServer((request, response) => {
            asked.push(request.url)
            response.writeHead(500).end("{}")
          })
          made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
        }),
        (made) => Effect.sync(() => made.close())
      )
      const address = server.address()
      const root = yield* folder
      const { environment, work } = largeFilesIn(root, typeof address === "object" ? (address?.port ?? 0) : 0)
      writeFileSync(join(work, "opencode.json"), "{}")
      yield* withoutRuntimeChanges(work, [{ code: " M", path: "opencode.json" }], { environment })
      const added = yield* runGit(work, ["worktree", "add", "--detach", "../other", "HEAD"], { environment })
      assert.strictEqual(added.exitCode, 0, added.stderr)
      assert.strictEqual(readFileSync(join(root, "other", "here.json"), "utf8"), "{}\n")
      assert.match(readFileSync(join(root, "other", "opencode.json"), "utf8"), /^version https/)
      assert.deepStrictEqual(asked, [])
    })
  )
})

describe("a filter of the user's, in git as Reprise runs it", () => {
  it.live("is told that Git LFS has no server, whatever the tree says", () =>
    Effect.gen(function* () {
      const root = yield* folder
      const { work } = repositoryIn(root)
      writeFileSync(join(work, ".gitattributes"), "file filter=x\n")
      const told = "{ git config lfs.url; echo $GIT_LFS_SKIP_DOWNLOAD_ERRORS; }"
      git(work, "config", "filter.x.smudge", told)
      const shown = yield* runGit(work, ["cat-file", "--filters", "HEAD:file"])
      assert.strictEqual(shown.stdout, "file:///dev/null\n1\n")
    })
  )
})

describe("git, as Reprise runs it, where objects are missing", () => {
  it.live.each(ways)("starts no program to reach %s for what a remote has promised", ([url, named]) =>
    Effect.gen(function* () {
      const root = yield* folder
      const { missing, work } = repositoryIn(root)
      const [witness, program] = [join(root, "ran"), join(root, "program")]
      writeFileSync(program, `#!/bin/sh\ntouch ${witness}\nfalse\n`, { mode: 0o755 })
      const plain = join(work, ".git", "config")
      const original = readFileSync(plain, "utf8")
      const configure = (...keys: ReadonlyArray<string>) =>
        writeFileSync(plain, `${original}${keys.map((key) => sectionOf(key, program)).join("")}${promised(url)}`)
      const ran = () => {
        const found = existsSync(witness)
        rmSync(witness, { force: true })
        return found
      }
      const content = readFileSync(missing.commit)
      rmSync(missing.commit)
      const tried = knownKeys.filter(isTried)
      const obeyed = tried.filter((key) => {
        configure(key)
        attempt(work, "rev-parse", "--verify", "HEAD^{commit}")
        return ran()
      })
      assert.includeMembers(obeyed, [...named])
      mkdirSync(dirname(missing.commit), { recursive: true })
      writeFileSync(missing.commit, content)
      for (const path of Object.values(missing)) {
        const kept = readFileSync(path)
        rmSync(path)
        for (const keys of [...obeyed.map((key) => [key]), tried]) {
          configure(...keys)
          yield* workingTreeChanges(work, { untracked: "normal" })
          for (const args of looks) {
            yield* runGit(work, args)
            assert.isFalse(ran(), `${args.join(" ")} with ${keys.length === 1 ? keys[0] : "all keys"}`)
          }
        }
        writeFileSync(path, kept)
      }
    })
  )

  it.live("says in a partial clone what is missing and how to get it, and shows everything else", () =>
    Effect.gen(function* () {
      const { clone, root } = yield* partialClone
      const contacted = join(root, "contacted")
      git(clone, "config", "remote.origin.uploadpack", `touch ${contacted}; git-upload-pack`)
      writeFileSync(join(clone, "file"), "three\n")
      const { changes } = { changes: [], ...(yield* workingTreeChanges(clone, { untracked: "normal" })) }
      assert.deepStrictEqual(changes, [{ code: " M", path: "file" }])
      assert.strictEqual((yield* runGit(clone, ["diff", "--quiet", "HEAD"])).exitCode, 1)
      const shown = yield* runGit(clone, ["log", "--patch"])
      assert.notStrictEqual(shown.exitCode, 0)
      assert.include(shown.stderr, "promisor remote")
      assert.include(shown.stderr, "git fetch --refetch --no-filter")
      assert.isFalse(existsSync(contacted))
      git(clone, "-c", "protocol.file.allow=always", "fetch", "--quiet", "--refetch", "--no-filter", "origin")
      assert.strictEqual((yield* runGit(clone, ["log", "--patch"])).exitCode, 0)
    })
  )
})
