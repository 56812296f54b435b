import { mkdir, symlink } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { verifyContinuation } from "../src/work/verify/verifyContinuation.ts"
import { verifyTasks } from "./support/commands.ts"
import { adapters, placeAt, repository, temporaryDirectory } from "./support/repository.ts"

const unknown = "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef"

layer(adapters, { excludeTestServices: true })("verifying a continuation", (it) => {
  it.effect(
    "accepts commits that are reachable from HEAD, and files that are there or were deleted by a later commit",
    () =>
      Effect.gen(function* () {
        const made = yield* repository
        yield* made.write("a.ts", "1")
        yield* made.write("b.ts", "1")
        const first = yield* made.commit("T1")
        yield* made.git("rm", "--quiet", "b.ts")
        yield* made.write("c.ts", "1")
        const second = yield* made.commit("T2: deletes b, adds c")
        yield* made.git("mv", "c.ts", "d.ts")
        yield* made.commit("renames c")
        const event = yield* verifyContinuation(
          verifyTasks([
            { id: "T1", commit: first.slice(0, 8), files: ["a.ts", "b.ts"] },
            { id: "T2", commit: second, files: ["b.ts", "c.ts"] }
          ]),
          made.place
        )
        assert.containSubset(event, { _tag: "ContinuationVerified", runId: "r1", phase: "1" })
      })
  )

  it.effect("accepts a file that the first commit of the repository added and a later one deleted", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const first = yield* made.git("rev-parse", "HEAD")
      yield* made.git("rm", "--quiet", "PLAN.md")
      yield* made.commit("no plan")
      const event = yield* verifyContinuation(verifyTasks([{ id: "T", commit: first, files: ["PLAN.md"] }]), made.place)
      assert.strictEqual(event._tag, "ContinuationVerified")
    })
  )

  it.effect("names a commit that is no newer than the phase", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const older = yield* made.git("rev-parse", "HEAD")
      yield* made.write("a.ts", "1")
      const base = yield* made.commit("before the phase")
      yield* made.write("b.ts", "1")
      const work = yield* made.commit("T1")
      const tasks = [work, base, older].map((commit, index) => ({ id: `T${index}`, commit, files: [] }))
      const event = yield* verifyContinuation({ ...verifyTasks(tasks), base }, made.place)
      assert.containSubset(event, { _tag: "ContinuationRejected", missingCommits: [base, older] })
    })
  )

  it.effect("names exactly the missing commits and files", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("a.ts", "1")
      yield* made.write("gone.ts", "1")
      const work = yield* made.commit("T1")
      yield* made.remove("gone.ts")
      yield* made.git("checkout", "--quiet", "-b", "other")
      yield* made.git("stash", "--quiet")
      yield* made.write("e.ts", "1")
      const elsewhere = yield* made.commit("elsewhere")
      yield* made.git("checkout", "--quiet", "main")
      yield* made.remove("gone.ts")
      const tree = yield* made.git("rev-parse", "HEAD^{tree}")
      const event = yield* verifyContinuation(
        verifyTasks([
          {
            id: "T1",
            commit: work,
            files: ["a.ts", "gone.ts", "never.ts", "../outside", "/etc/passwd", ".git/config"]
          },
          { id: "T2", commit: unknown, files: ["a.ts"] },
          { id: "T3", commit: elsewhere, files: [] },
          { id: "T4", commit: tree, files: [] },
          { id: "T5", commit: "--all", files: [] },
          { id: "T6", commit: "HEAD", files: [] },
          { id: "T7", commit: unknown, files: [] }
        ]),
        made.place
      )
      assert.containSubset(event, {
        _tag: "ContinuationRejected",
        missingCommits: [unknown, elsewhere, tree, "--all", "HEAD"],
        missingFiles: ["gone.ts", "never.ts", "../outside", "/etc/passwd", ".git/config"]
      })
    })
  )

  it.effect(
    "names what is missing after a reset, a rebase or in a shallow clone, and accepts the work once it is back",
    () =>
      Effect.gen(function* () {
        const made = yield* repository
        yield* made.write("a.ts", "1")
        const first = yield* made.commit("T1")
        yield* made.write("b.ts", "1")
        const second = yield* made.commit("T2")
        const tasks = verifyTasks([
          { id: "T1", commit: first, files: ["a.ts"] },
          { id: "T2", commit: second, files: ["b.ts"] }
        ])
        const rejected = (missingCommits: ReadonlyArray<string>, missingFiles: ReadonlyArray<string>) => ({
          _tag: "ContinuationRejected" as const,
          runId: "r1",
          phase: "1",
          missingCommits,
          missingFiles
        })

        yield* made.git("reset", "--quiet", "--hard", "HEAD~1")
        assert.deepStrictEqual<unknown>(yield* verifyContinuation(tasks, made.place), rejected([second], ["b.ts"]))
        yield* made.git("reset", "--quiet", "--hard", second)
        assert.strictEqual((yield* verifyContinuation(tasks, made.place))._tag, "ContinuationVerified")

        // As after a rebase: the same changes, other commits.
        yield* made.git("reset", "--quiet", "--hard", `${first}~1`)
        yield* made.git("commit", "--quiet", "--allow-empty", "-m", "came in between")
        yield* made.git("cherry-pick", first, second)
        assert.deepStrictEqual<unknown>(yield* verifyContinuation(tasks, made.place), rejected([first, second], []))
        yield* made.git("reset", "--quiet", "--hard", second)

        const clone = yield* temporaryDirectory
        yield* made.git("clone", "--quiet", "--depth", "1", `file://${made.root}`, `${clone}/shallow`)
        const place = placeAt(`${clone}/shallow`)
        assert.deepStrictEqual<unknown>(yield* verifyContinuation(tasks, place), {
          ...rejected([first], []),
          shallow: true
        })
        yield* made.git("-C", `${clone}/shallow`, "fetch", "--quiet", "--unshallow")
        assert.strictEqual((yield* verifyContinuation(tasks, place))._tag, "ContinuationVerified")
      })
  )

  const inPlaceOfFile: ReadonlyArray<readonly [string, (path: string) => Promise<void>]> = [
    ["a directory", (path) => mkdir(path)],
    ["a link that leads nowhere", (path) => symlink("nowhere", path)],
    ["a link to itself", (path) => symlink("a.ts", path)]
  ]
  for (const [name, put] of inPlaceOfFile) {
    it.effect(`counts a file as missing when ${name} is in its place`, () =>
      Effect.gen(function* () {
        const made = yield* repository
        yield* made.write("a.ts", "1")
        const commit = yield* made.commit("T1")
        yield* made.remove("a.ts")
        yield* Effect.promise(() => put(join(made.root, "a.ts")))
        const event = yield* verifyContinuation(
          verifyTasks([{ id: "T1", commit, files: ["a.ts", "./a.ts"] }]),
          made.place
        )
        assert.containSubset(event, { missingCommits: [], missingFiles: ["a.ts", "./a.ts"] })
      })
    )
  }

  it.effect("accepts a directory, a link and a submodule where they were committed as such", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const library = yield* repository
      yield* made.write("src/a.ts", "1")
      yield* Effect.promise(() => symlink("nowhere", join(made.root, "link")))
      yield* made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library.root, "library")
      const commit = yield* made.commit("T1")
      const files = ["src", "src/", "link", "library", "library/PLAN.md"]
      const event = yield* verifyContinuation(verifyTasks([{ id: "T1", commit, files }]), made.place)
      assert.strictEqual(event._tag, "ContinuationVerified")
      yield* made.remove("library")
      assert.containSubset(yield* verifyContinuation(verifyTasks([{ id: "T1", commit, files }]), made.place), {
        missingFiles: ["library", "library/PLAN.md"]
      })
    })
  )

  it.effect("counts a file as missing that was deleted, committed again and then removed without a commit", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("a.ts", "1")
      const commit = yield* made.commit("T1")
      yield* made.remove("a.ts")
      yield* made.commit("without a")
      yield* made.write("a.ts", "2")
      yield* made.commit("with a again")
      yield* made.remove("a.ts")
      const event = yield* verifyContinuation(verifyTasks([{ id: "T1", commit, files: ["a.ts"] }]), made.place)
      assert.containSubset(event, { missingFiles: ["a.ts"] })
    })
  )

  it.effect("counts a file as deleted when a merge dropped it", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("a.ts", "1")
      const commit = yield* made.commit("T1")
      yield* made.git("checkout", "--quiet", "-b", "other")
      yield* made.commit("other")
      yield* made.git("checkout", "--quiet", "main")
      yield* made.git("merge", "--quiet", "--no-ff", "--no-commit", "other")
      yield* made.remove("a.ts")
      yield* made.commit("merge, without a")
      const event = yield* verifyContinuation(verifyTasks([{ id: "T1", commit, files: ["a.ts"] }]), made.place)
      assert.strictEqual(event._tag, "ContinuationVerified")
    })
  )

  it.effect("names every commit as missing on a branch without commits, and paths that no file can have", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write("a.ts", "1")
      const commit = yield* made.commit("T1")
      const long = "x".repeat(300)
      const longer = "a/".repeat(100_000)
      const tasks = verifyTasks([{ id: "T1", commit, files: [long, longer] }])
      assert.containSubset(yield* verifyContinuation(tasks, made.place), { missingFiles: [long, longer] })
      yield* made.git("checkout", "--quiet", "--orphan", "empty")
      const event = yield* verifyContinuation(
        verifyTasks([{ id: "T1", commit, files: ["a.ts", long, "a\0b"] }]),
        made.place
      )
      assert.containSubset(event, { missingCommits: [commit], missingFiles: [long, "a\0b"] })
    })
  )

  it.effect(
    "names the commit that the phase counts from once its base was rewritten, and a verified commit that is gone",
    () =>
      Effect.gen(function* () {
        const made = yield* repository
        const plan = yield* made.git("rev-parse", "HEAD")
        yield* made.write("before.ts", "1")
        const base = yield* made.commit("the phase before")
        yield* made.write("a.ts", "1")
        const commit = yield* made.commit("T1")
        const tasks = verifyTasks([{ id: "T1", commit, files: ["a.ts"] }])
        assert.notProperty(yield* verifyContinuation({ ...tasks, base, verified: commit }, made.place), "base")
        yield* made.git("reset", "--quiet", "--hard", plan)
        yield* made.git("commit", "--quiet", "--allow-empty", "-m", "came in between")
        yield* made.git("cherry-pick", base, commit)
        const rejected = yield* verifyContinuation({ ...tasks, base, verified: base }, made.place)
        assert.containSubset(rejected, { missingCommits: [commit, base], missingFiles: [], base: plan })
        const none = yield* verifyContinuation({ ...verifyTasks([]), base }, made.place)
        assert.containSubset(none, { _tag: "ContinuationVerified", base: plan })
        yield* made.git("checkout", "--quiet", "--orphan", "unrelated")
        yield* made.commit("nothing in common")
        assert.notProperty(yield* verifyContinuation({ ...tasks, base }, made.place), "base")
      })
  )

  it.effect("checks 500 tasks with a few processes", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const commit = yield* made.git("rev-parse", "HEAD")
      const tasks = Array.from({ length: 500 }, (_, n) => ({ id: `T${n}`, commit, files: ["PLAN.md"] }))
      const event = yield* verifyContinuation(verifyTasks(tasks), made.place)
      assert.strictEqual(event._tag, "ContinuationVerified")
    })
  )
})
