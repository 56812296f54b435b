import { lstatSync, readFileSync } from "node:fs"
import { cp, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { uncommitted } from "../src/work/verify/verifyCommit.ts"
import { host } from "./support/brokers.ts"
import { runId } from "./support/commands.ts"
import { done, type Prepare, prepared, r2, refused, services, withSubmodule } from "./support/preparing.ts"
import { emptyRepository, repository, temporaryDirectory } from "./support/repository.ts"

layer(services, { excludeTestServices: true })("preparing a workspace", (it) => {
  it.effect("returns the working tree, its head and its branch, and hides Reprise's files from git", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { event } = yield* prepared(made.root)
      assert.deepStrictEqual(event as unknown, {
        _tag: "WorkspacePrepared",
        runId,
        host,
        directory: made.root,
        head: yield* made.git("rev-parse", "HEAD"),
        branch: "main"
      })
      yield* made.write(".reprise/logs/r1/x.log", "x")
      yield* made.write(".planning/phases/01-one/.continuation-state.json", "{}")
      assert.strictEqual(yield* made.git("status", "--porcelain", "--untracked-files=all"), "")
      yield* prepared(made.root)
      const exclude = readFileSync(join(made.root, ".git/info/exclude"), "utf8")
      assert.strictEqual(exclude.split("\n").filter((line) => line === "/.reprise/").length, 1)
    })
  )

  it.effect("leaves each byte of the user's own exclusions as it is, and writes through no link of theirs", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const exclude = join(made.root, ".git", "info", "exclude")
      const own = Buffer.from("gr\xfc\xdfe.txt\n", "latin1")
      yield* Effect.promise(() => writeFile(exclude, own))
      yield* prepared(made.root)
      const written = readFileSync(exclude)
      assert.deepStrictEqual(written.subarray(0, own.length), own)
      const shared = join(yield* temporaryDirectory, "shared")
      yield* Effect.promise(() => writeFile(shared, own))
      yield* Effect.promise(() => rm(exclude))
      yield* Effect.promise(() => symlink(shared, exclude))
      assert.match(
        yield* refused(made.root),
        /info\/exclude is a link, and Reprise writes through none\. Add these lines to the file that it leads to: \/\.reprise\/ /
      )
      assert.deepStrictEqual(readFileSync(shared), own)
      yield* Effect.promise(() => writeFile(shared, written))
      yield* prepared(made.root)
      assert.isTrue(lstatSync(exclude).isSymbolicLink())
    })
  )

  it.effect("accepts a directory inside the repository, even through a link", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("sub/a", "1")
      yield* made.commit("sub")
      const link = join(yield* temporaryDirectory, "link")
      yield* Effect.promise(() => symlink(join(made.root, "sub"), link))
      assert.strictEqual((yield* prepared(link)).place.directory, made.root)
    })
  )

  it.effect("tolerates a folder that hid itself before the run, and refuses a file that hides others", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("tools/a.mjs", "1")
      yield* made.commit("tools")
      yield* made.write(".mine/.gitignore", "*\n")
      yield* made.write("tools/.gitignore", ".gitignore\nlocal.mjs\n")
      assert.match(yield* refused(made.root), /^dirty-tree: .*tools\/\.gitignore \(hides files and is in no commit/)
      yield* made.remove("tools/.gitignore")
      const { place } = yield* prepared(made.root)
      assert.deepStrictEqual(place.tolerated, [])
      const head = yield* made.git("rev-parse", "HEAD")
      assert.isUndefined(yield* uncommitted(place, undefined, { base: head, commit: head }))
    })
  )

  it.effect("refuses a dirty tree with a list of changed and untracked paths, unless --allow-dirty is given", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("PLAN.md", "changed")
      yield* made.write("new/a", "1")
      assert.match(yield* refused(made.root), /^dirty-tree: .*not committed: PLAN\.md, new\/\. Commit or stash/)
      const { place } = yield* prepared(made.root, { allowDirty: true })
      assert.deepStrictEqual(place.tolerated, ["PLAN.md", "new/"])
    })
  )

  it.effect("ignores files that Reprise wrote, and what the run did since it was first prepared", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(".planning/phases/01-one/SUMMARY.md", "x")
      const { place } = yield* prepared(made.root)
      yield* made.write("half-done.ts", "x")
      assert.deepStrictEqual((yield* prepared(made.root, {}, place)).place, place)
      yield* done(place)
      assert.match(yield* refused(made.root, { runId: r2 }), /^dirty-tree/)
    })
  )

  const refusals: ReadonlyArray<
    readonly [string, RegExp, Effect.Effect<string, never, Scope.Scope>, Partial<Prepare>]
  > = [
    [
      "a directory that is not a repository",
      /^not-a-repository: .* is not in a git repository/,
      temporaryDirectory,
      {}
    ],
    ["a relative path", /^other: The workspace '\.' is not an absolute/, Effect.succeed("."), {}],
    ["a directory that does not exist", /^not-a-repository: There is no directory/, Effect.succeed("/no/such/dir"), {}],
    [
      "a repository without a commit",
      /^other: .* has no commit yet/,
      Effect.map(emptyRepository, ({ root }) => root),
      {}
    ],
    [
      "a bare repository",
      /^not-a-repository: .* has no working tree: it is a bare repository/,
      Effect.flatMap(repository, (made) =>
        Effect.as(made.git("clone", "--quiet", "--bare", ".", "bare.git"), `${made.root}/bare.git`)
      ),
      {}
    ],
    [
      "a plan of a repository inside the repository",
      /^outside: The plan nested\/PLAN\.md is a file of another repository, .*\/nested\. Start the run there/,
      Effect.flatMap(repository, (made) => Effect.as(made.git("clone", "--quiet", ".", "nested"), made.root)),
      { planPath: "nested/PLAN.md" }
    ],
    [
      "a repository with an untracked repository inside, as uncommitted",
      /^dirty-tree: .*not committed: nested\//,
      Effect.flatMap(repository, (made) => Effect.as(made.git("clone", "--quiet", ".", "nested"), made.root)),
      {}
    ],
    [
      "a submodule with uncommitted changes",
      /^dirty-tree: .*not committed: sub \(differs from its commit: PLAN\.md\./,
      Effect.tap(withSubmodule, (made) => made.write("sub/PLAN.md", "changed")).pipe(Effect.map(({ root }) => root)),
      {}
    ],
    [
      "a plan that does not exist",
      /^other: There is no plan none\.md/,
      Effect.map(repository, ({ root }) => root),
      { planPath: "none.md" }
    ],
    [
      "a plan outside the repository",
      /^outside: '\.\.\/PLAN\.md'/,
      Effect.map(repository, ({ root }) => root),
      { planPath: "../PLAN.md" }
    ],
    [
      "a plan in git's directory",
      /^outside: '\.git\/config'/,
      Effect.map(repository, ({ root }) => root),
      { planPath: ".git/config" }
    ]
  ]
  for (const [what, reason, where, more] of refusals) {
    it.effect(`refuses ${what}`, () =>
      Effect.gen(function* () {
        assert.match(yield* refused(yield* where, more), reason)
      })
    )
  }

  it.effect("accepts a detached HEAD, and reports no branch", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.git("checkout", "--quiet", "--detach")
      const { event } = yield* prepared(made.root)
      assert.notProperty(event, "branch")
      const { place } = yield* prepared(made.root, { worktree: true, runId: r2 })
      assert.strictEqual(place.branch, "reprise/plan")
    })
  )

  it.effect("accepts a submodule as a repository, and a repository with submodules", () =>
    Effect.gen(function* () {
      const made = yield* withSubmodule
      assert.strictEqual((yield* prepared(made.root)).place.directory, made.root)
      const inside = yield* prepared(`${made.root}/sub`, { runId: r2 })
      assert.strictEqual(inside.place.directory, `${made.root}/sub`)
      assert.strictEqual(yield* made.git("status", "--porcelain"), "", "Reprise's own files are hidden in both")
    })
  )

  it.effect("refuses a tree that another run holds, names that run, and accepts the tree once that run is over", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* prepared(made.root)
      assert.match(yield* refused(made.root, { runId: r2 }), /^in-use: .* is in use by run r1 on host h1/)
      yield* done(place)
      yield* prepared(made.root, { runId: r2 })
    })
  )

  it.effect("frees the lease when it refuses the tree", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("dirt", "1")
      assert.match(yield* refused(made.root), /^dirty-tree/)
      yield* made.remove("dirt")
      yield* prepared(made.root, { runId: r2 })
    })
  )

  it.effect("frees the lease when preparing fails half way", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(".git/index", "no index")
      assert.strictEqual((yield* Effect.flip(prepared(made.root)))._tag, "GitFault")
      yield* made.remove(".git/index")
      yield* made.git("reset", "--quiet")
      yield* prepared(made.root, { runId: r2 })
    })
  )

  it.effect("refuses nothing when a signal ends git", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { PATH = "" } = process.env
      const folder = yield* temporaryDirectory
      yield* Effect.promise(() => writeFile(join(folder, "git"), "#!/bin/sh\nkill -INT $$\n", { mode: 0o755 }))
      process.env["PATH"] = `${folder}:${PATH}`
      const fault = yield* Effect.ensuring(
        Effect.flip(prepared(made.root)),
        Effect.sync(() => {
          process.env["PATH"] = PATH
        })
      )
      assert.strictEqual(fault._tag, "HostFault")
    })
  )

  it.effect("distinguishes a copy of a repository from the repository", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* prepared(made.root)
      const copy = join(yield* temporaryDirectory, "copy")
      yield* Effect.promise(() => cp(made.root, copy, { recursive: true }))
      yield* prepared(copy, { runId: r2 })
    })
  )
})
