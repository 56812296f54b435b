import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { Git } from "../src/work/git/Git.ts"
import { ownTreeFolder } from "../src/work/git/ownTreeFolder.ts"
import { listWorktrees, removeWorktree } from "../src/work/git/worktrees.ts"
import { setUpWorktree, worktreeOfRun } from "../src/work/prepare/worktreeOfRun.ts"
import { prepareIn } from "./support/commands.ts"
import { check, forged, honest, putObject, scene } from "./support/hostileAuthor.ts"
import { done, type Prepare, prepared, r2, refused, services, withSubmodule } from "./support/preparing.ts"
import { type Repository, repository } from "./support/repository.ts"

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

  it.effect.each<readonly [string, string, boolean]>([
    [
      "another content",
      `B=$(echo "touch '$PWD/ran'; cat" | git hash-object -w --stdin); git update-index --cacheinfo 100755,$B,tools/filter`,
      false
    ],
    [
      "a link",
      "B=$(printf %s other | git hash-object -w --stdin); git update-index --cacheinfo 120000,$B,tools/filter",
      false
    ],
    [
      "a link above it",
      "B=$(printf %s other | git hash-object -w --stdin); git rm -q -r --cached tools; git update-index --add --cacheinfo 120000,$B,tools",
      false
    ],
    ["none of it", "git rm -q -r --cached tools", true],
    ["the same", "git rm -q --cached z.dat", true]
  ])("checks out no commit that has %s where git's configuration runs a filter of the tree", ([, change, isMade]) =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("tools/filter", "exec cat\n")
      yield* made.write(".gitattributes", "*.dat filter=x\n")
      yield* made.write("z.dat", "data\n")
      yield* made.git("config", "filter.x.smudge", "sh ./tools/filter")
      yield* made.git("config", "filter.x.clean", "sh ./tools/filter")
      yield* made.commit("a filter")
      // As an agent's command does it, which cannot change the file.
      const script = `export GIT_INDEX_FILE=.git/other; git read-tree HEAD; ${change}; git branch reprise/plan $(git commit-tree -p HEAD -m x $(git write-tree))`
      execFileSync("sh", ["-ec", script], { cwd: made.root })
      if (isMade) return void (yield* inWorktree(made))
      const reason = yield* refused(made.root, { worktree: true })
      assert.include(reason, "has another tools/filter")
      assert.isFalse(existsSync(join(made.root, ".reprise/worktrees/r1")))
      assert.isFalse(existsSync(join(made.root, "ran")))
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

  it.effect("is refused if a new worktree is not as its commit has it, whoever made that so", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const command = prepareIn(at.root, { worktree: true })
      const blob = at.git("rev-parse", `HEAD:${check}`)
      putObject(at, blob, "blob", Buffer.from(forged))
      const tree = yield* worktreeOfRun(command, at.root)
      putObject(at, blob, "blob", Buffer.from(honest))
      const plan = readFileSync(join(at.root, "PLAN.md"), "utf8")
      const error = yield* Effect.flip(setUpWorktree(command, at.root, plan, tree))
      assert.containSubset(error, { _tag: "Refused", kind: "dirty-tree" })
      assert.include(error._tag === "Refused" ? error.reason : "", check)
    })
  )

  it.effect("takes no branch that appears while its worktree is made for the one that it makes", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const git = yield* Git
      const [first, path] = [yield* made.git("rev-parse", "HEAD"), join(made.root, ".reprise/worktrees/r1")]
      const unseen = yield* made.git("commit-tree", "-p", first, "-m", "backdoor", `${first}^{tree}`)
      yield* made.git("branch", "reprise/plan", unseen)
      const fault = yield* Effect.flip(git.addWorktree(made.root, path, "reprise/plan", first))
      assert.include(fault.message, "already exists")
      assert.isFalse(existsSync(path))
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

  it.effect("takes and removes no folder that a forged record names as a worktree of the run's branch", () =>
    Effect.gen(function* () {
      const [made, other] = [yield* repository, yield* repository]
      const { place } = yield* inWorktree(made)
      yield* done(place, "failed")
      yield* made.git("branch", "reprise/two")
      const out = `${made.root}/.reprise/worktrees/${"../".repeat(20)}${other.root}`
      for (const [name, directory] of [
        ["evil", out],
        ["worse", place.directory]
      ] as const) {
        yield* made.write(`.git/worktrees/${name}/HEAD`, "ref: refs/heads/reprise/two\n")
        yield* made.write(`.git/worktrees/${name}/commondir`, "../..\n")
        yield* made.write(`.git/worktrees/${name}/gitdir`, `${directory}/.git\n`)
      }
      assert.match(yield* made.git("worktree", "list", "--porcelain"), /branch refs\/heads\/reprise\/two/)
      yield* refused(made.root, { worktree: true, runId: r2, branch: "reprise/two" })
      assert.deepStrictEqual(
        (yield* listWorktrees(made.root)).filter(({ directory }) => directory !== place.directory),
        []
      )
      yield* removeWorktree(made.root, out)
      assert.isTrue(existsSync(join(other.root, "PLAN.md")))
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

  it.effect("removes it although a command left a path that is longer than the system takes", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* inWorktree(made)
      const deeper = 'fs.mkdirSync("a".repeat(200)); process.chdir("a".repeat(200))'
      execFileSync(process.execPath, ["-e", `for (let n = 0; n < 40; n++) { ${deeper} }`], { cwd: place.directory })
      yield* removeWorktree(made.root, place.directory)
      assert.deepStrictEqual(yield* listWorktrees(made.root), [])
      assert.deepStrictEqual(readdirSync(join(made.root, ".reprise/worktrees")), [])
    })
  )

  it.effect("writes its branch through no symbolic ref that a command has made in its place", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(".git/refs/heads/reprise/plan", "ref: commondir\n")
      const { place } = yield* inWorktree(made)
      assert.isFalse(existsSync(join(made.root, ".git/commondir")))
      assert.strictEqual(yield* made.git("-C", place.directory, "branch", "--show-current"), "reprise/plan")
    })
  )

  it.effect("keeps one that somebody has locked", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { place } = yield* inWorktree(made)
      yield* made.git("worktree", "lock", place.directory)
      const fault = yield* Effect.flip(removeWorktree(made.root, place.directory))
      assert.match(fault.message, /is locked: 'git worktree unlock/)
      yield* done(place)
      assert.isTrue(existsSync(join(place.directory, ".git")))
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
