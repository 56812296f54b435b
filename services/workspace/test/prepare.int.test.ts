import { existsSync, readFileSync } from "node:fs"
import { cp, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { RunId, type WorkspaceCommand } from "@reprise/protocol"
import { Effect, Layer, type Scope } from "effect"
import type { Place } from "../src/actor/work.ts"
import { release } from "../src/work/doCommand.ts"
import { ownTreeFolder } from "../src/work/git/ownTreeFolder.ts"
import { listWorktrees } from "../src/work/git/worktrees.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { prepare } from "../src/work/prepare/prepare.ts"
import { uncommitted } from "../src/work/verify/verifyCommit.ts"
import { host, inMemory } from "./support/brokers.ts"
import { prepareIn, runId } from "./support/commands.ts"
import { adapters, emptyRepository, type Repository, repository, temporaryDirectory } from "./support/repository.ts"

const r2 = RunId.make("r2")
type Prepare = Extract<WorkspaceCommand, { readonly _tag: "PrepareWorkspace" }>

const prepared = (workspace: string, more: Partial<Prepare> = {}, before?: Place) =>
  Effect.flatMap(prepare(prepareIn(workspace, more), host, before, crypto.randomUUID()), ({ event, place }) =>
    place === undefined ? Effect.die(new Error(JSON.stringify(event))) : Effect.succeed({ event, place })
  )
const refused = (workspace: string, more: Partial<Prepare> = {}) =>
  Effect.map(prepare(prepareIn(workspace, more), host, undefined, crypto.randomUUID()), ({ event }) =>
    event._tag === "WorkspaceRefused" ? `${event.kind}: ${event.reason}` : event._tag
  )
const done = (place: Place, outcome: "completed" | "failed" = "completed", run = runId) =>
  release({ _tag: "ReleaseWorkspace", runId: run, outcome }, place)

/** With a repository of its own at `sub`. */
const withSubmodule = Effect.gen(function* () {
  const made = yield* repository
  const other = yield* repository
  yield* made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.root, "sub")
  yield* made.commit("submodule")
  return made
})

const services = Leases.layer.pipe(Layer.provideMerge(inMemory), Layer.provideMerge(adapters))

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
      assert.isUndefined(yield* uncommitted(place, undefined))
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

const inWorktree = (made: Repository, more: Partial<Prepare> = {}) => prepared(made.root, { worktree: true, ...more })

layer(services, { excludeTestServices: true })("preparing a worktree", (it) => {
  it.effect("creates one on a branch named after the plan, without the dirty files of the repository", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("dirt", "1")
      const { event, place } = yield* inWorktree(made, {
        postCreate: ["echo deps > node_modules.txt", "git rev-parse --show-toplevel"]
      })
      assert.strictEqual(place.directory, join(made.root, ".reprise/worktrees/r1"))
      assert.containSubset(event, { directory: place.directory, branch: "reprise/plan" })
      assert.isFalse(existsSync(join(place.directory, "dirt")))
      assert.deepStrictEqual(place.tolerated, ["node_modules.txt"])
      const log = readFileSync(join(made.root, ".reprise/logs/r1/post-create-git-rev-parse-show-toplevel.log"), "utf8")
      assert.strictEqual(log, `${place.directory}\n`)
      assert.strictEqual(yield* made.git("status", "--porcelain"), "?? dirt")
    })
  )

  it.effect("creates many of one repository at the same time, even if a hook would refuse", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const names = Array.from({ length: 16 }, (_, n) => `plan-${n}`)
      for (const name of names) yield* made.write(`${name}.md`, "# Plan\n")
      yield* made.commit("plans")
      yield* made.hook("post-checkout", "exit 1")
      const all = yield* Effect.forEach(
        names,
        (name) => prepared(made.root, { worktree: true, runId: RunId.make(name), planPath: `${name}.md` }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        all.map(({ place }) => place.branch),
        names.map((name) => `reprise/${name}`)
      )
    })
  )

  it.effect("reuses its own without running postCreate twice", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const postCreate = ["echo once >> times"]
      const first = yield* inWorktree(made, { postCreate })
      const again = yield* inWorktree(made, { postCreate })
      assert.deepStrictEqual(again, first)
      assert.strictEqual(readFileSync(join(first.place.directory, "times"), "utf8"), "once\n")
    })
  )

  it.effect("runs postCreate again where somebody removed the worktree meanwhile", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const postCreate = ["echo once >> times"]
      const { place } = yield* inWorktree(made, { postCreate })
      yield* made.git("worktree", "remove", "--force", place.directory)
      yield* inWorktree(made, { postCreate })
      assert.strictEqual(readFileSync(join(place.directory, "times"), "utf8"), "once\n")
    })
  )

  it.effect("believes nothing that another run wrote into git's directory about it", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* inWorktree(made)
      const forged = JSON.stringify({ tolerated: ["tests/"] })
      yield* Effect.promise(() => writeFile(join(made.root, ".git/worktrees/r1/reprise-prepared.json"), forged))
      assert.deepStrictEqual((yield* inWorktree(made)).place.tolerated, place.tolerated)
      assert.notInclude(place.tolerated, "tests/")
    })
  )

  it.effect("runs postCreate again when a crash interrupted it", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* inWorktree(made, { postCreate: ["echo once >> times"] })
      yield* Effect.promise(() => rm(`${ownTreeFolder(place)}-prepared.json`))
      yield* made.git("-C", place.directory, "clean", "-fdq")
      yield* inWorktree(made, { postCreate: ["echo once >> times"] })
      assert.strictEqual(readFileSync(join(place.directory, "times"), "utf8"), "once\n")
    })
  )

  it.effect("refuses when a postCreate command fails, says why, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const reason = yield* refused(made.root, { worktree: true, postCreate: ["echo no registry; exit 7"] })
      assert.match(
        reason,
        /^post-create: workspace\.postCreate 'echo no registry; exit 7' ended with 7\..*post-create-.*\.log.*\nno registry/s
      )
      const silent = yield* refused(made.root, { worktree: true, postCreate: ["exit 7"] })
      assert.match(silent, /ended with 7\. Its log is \S+\. It printed nothing\.$/)
      assert.deepStrictEqual(yield* listWorktrees(made.root), [])
      yield* inWorktree(made, { runId: r2 })
    })
  )

  it.effect("refuses a plan that differs on the branch of the worktree", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("PLAN.md", "# Changed")
      assert.match(yield* refused(made.root, { worktree: true }), /^dirty-tree: .*PLAN\.md.*Commit it first/)
      assert.deepStrictEqual(yield* listWorktrees(made.root), [])
    })
  )

  it.effect("reuses the branch and the worktree that an earlier run left", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* inWorktree(made)
      assert.match(yield* refused(made.root, { worktree: true, runId: r2 }), /^in-use: .* by run r1/)
      yield* made.write(".reprise/worktrees/r1/work.ts", "1")
      yield* made.git("-C", place.directory, "add", "--all")
      yield* made.git("-C", place.directory, "commit", "--quiet", "-m", "work")
      yield* done(place, "failed")
      const second = yield* inWorktree(made, { runId: r2 })
      assert.strictEqual(second.place.directory, place.directory)
      assert.isTrue(existsSync(join(second.place.directory, "work.ts")))
      yield* done(second.place, "failed", r2)
      yield* made.git("worktree", "remove", "--force", place.directory)
      const third = yield* inWorktree(made, { runId: RunId.make("r3") })
      assert.isTrue(existsSync(join(third.place.directory, "work.ts")))
    })
  )

  it.effect("refuses a branch that is checked out elsewhere, or whose name is invalid", () =>
    Effect.gen(function* () {
      const made = yield* repository
      assert.match(yield* refused(made.root, { worktree: true, branch: "main" }), /^in-use: No worktree on main/)
      for (const branch of ["--force", "a..b", "a b", "", "-b", "a\nb"]) {
        assert.match(yield* refused(made.root, { worktree: true, branch }), /^other: .* cannot be the name of a branch/)
      }
    })
  )

  it.effect("removes it with a completed run even if the repository has submodules", () =>
    Effect.gen(function* () {
      const made = yield* withSubmodule
      const { place } = yield* prepared(made.root, { worktree: true })
      yield* made.git(
        "-C",
        place.directory,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "update",
        "--init"
      )
      yield* done(place)
      assert.isFalse(existsSync(place.directory))
    })
  )

  it.effect("removes it with a completed run whose work is merged, and keeps it otherwise", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* inWorktree(made)
      yield* made.write(".reprise/worktrees/r1/work.ts", "1")
      yield* made.git("-C", place.directory, "add", "--all")
      yield* made.git("-C", place.directory, "commit", "--quiet", "-m", "work")
      yield* done(place)
      assert.isTrue(existsSync(place.directory))
      yield* made.git("merge", "--quiet", "reprise/plan")
      yield* made.write(".reprise/worktrees/r1/unsaved", "1")
      yield* done(place)
      assert.isTrue(existsSync(place.directory))
      yield* made.remove(".reprise/worktrees/r1/unsaved")
      yield* made.write(".reprise/worktrees/r1/.planning/phases/01-one/SUMMARY.md", "x")
      yield* done(place, "failed")
      assert.isTrue(existsSync(place.directory))
      yield* done(place)
      assert.isFalse(existsSync(place.directory))
      assert.strictEqual(yield* made.git("branch", "--list", "--format=%(refname:short)", "reprise/*"), "reprise/plan")
      yield* done(place)
    })
  )
})
