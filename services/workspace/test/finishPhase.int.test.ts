import { mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { claims, finish, verify } from "./support/commands.ts"
import { adapters, type Repository, repository } from "./support/repository.ts"

const review = "docs/reviews/plan-phase-1-review.md"

/** To the plan, in the place of the review. */
const link = ({ root }: Repository) =>
  Effect.sync(() => {
    mkdirSync(dirname(join(root, review)), { recursive: true })
    symlinkSync("../../PLAN.md", join(root, review))
  })

layer(adapters, { excludeTestServices: true })("finishing a phase", (it) => {
  it.effect("commits only the review file, and returns the plan as it is now", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(review, "# Review\n")
      yield* made.write("PLAN.md", "# Plan, ticked\n")
      yield* made.git("add", "PLAN.md")
      const blocked = yield* finishPhase(finish(), made.place)
      assert.containSubset(blocked, { _tag: "PhaseBlocked", dirty: ["PLAN.md"] })
      yield* made.git("commit", "--quiet", "-m", "tick", "--", "PLAN.md")

      const finished = yield* finishPhase(finish(), made.place)
      const head = yield* made.git("rev-parse", "HEAD")
      assert.containSubset(finished, { _tag: "PhaseFinished", head, commit: head, plan: "# Plan, ticked\n" })
      assert.strictEqual(yield* made.git("log", "-1", "--format=%s"), "docs(review): finalize phase 1")
      assert.strictEqual(yield* made.git("show", "--name-only", "--format=", "HEAD"), review)
    })
  )

  it.effect("lists some of the files that are not committed, however many an agent left", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* Effect.forEach(
        Array.from({ length: 250 }, (_, at) => `left/${at}`),
        (path) => made.write(path, "")
      )
      const blocked = yield* finishPhase(finish(), made.place)
      if (blocked._tag !== "PhaseBlocked") return assert.fail(blocked._tag)
      assert.strictEqual(blocked.dirty.length, 201)
      assert.strictEqual(blocked.dirty.at(-1), "… and 50 more: git status lists them")
    })
  )

  it.effect("returns the subject lines of the given commits, and is not blocked by summaries", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const plan = yield* made.git("rev-parse", "HEAD")
      yield* made.write("a.ts", "1")
      const work = yield* made.commit('feat: say "hello" | twice')
      yield* made.write(".planning/phases/01-one/SUMMARY.md", "# Summary\n")
      const commits = [work.slice(0, 10), work, "deadbeef", "--all", plan]
      const finished = yield* finishPhase({ ...finish(), commits }, made.place)
      assert.containSubset(finished, {
        _tag: "PhaseFinished",
        subjects: [
          { commit: work, subject: 'feat: say "hello" | twice' },
          { commit: plan, subject: "plan" }
        ]
      })
    })
  )

  it.effect("makes no second commit when it is repeated", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.write(review, "# Review\n")
      const first = yield* finishPhase(finish(), made.place)
      assert.deepStrictEqual(yield* finishPhase(finish(), made.place), first)
      assert.strictEqual(yield* made.git("rev-list", "--count", "HEAD"), "2")
    })
  )

  it.effect("commits nothing when the review file is committed or missing", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const head = yield* made.git("rev-parse", "HEAD")
      const finished = yield* finishPhase(finish(), made.place)
      assert.containSubset(finished, { _tag: "PhaseFinished", head })
      assert.notProperty(finished, "commit")
    })
  )

  it.effect("is blocked by another commit of a submodule, even if the repository ignores changes of it", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const pin = (commit: string) => made.git("update-index", "--add", "--cacheinfo", `160000,${commit},library`)
      mkdirSync(join(made.root, "library"))
      yield* made.write(".gitmodules", '[submodule "library"]\n\tpath = library\n\turl = x\n\tignore = all\n')
      yield* made.git("add", ".gitmodules")
      yield* pin("1".repeat(40))
      yield* made.git("commit", "--quiet", "-m", "library")
      const approved = yield* made.git("rev-parse", "HEAD")
      yield* pin("2".repeat(40))
      yield* made.git("commit", "--quiet", "-m", "another library")
      const head = yield* made.git("rev-parse", "HEAD")
      const blocked = yield* finishPhase(finish(review, approved), made.place)
      assert.containSubset(blocked, { _tag: "PhaseBlocked", dirty: [], head })
    })
  )

  it.effect("is blocked by a commit that was not approved, unless it changes only the review file", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const approved = yield* made.git("rev-parse", "HEAD")
      yield* made.write(review, "# Review\n")
      yield* made.git("add", review)
      yield* made.git("commit", "--quiet", "-m", "review")
      assert.strictEqual((yield* finishPhase(finish(review, approved), made.place))._tag, "PhaseFinished")

      yield* made.write("late.txt", "x")
      yield* made.git("add", "late.txt")
      yield* made.git("commit", "--quiet", "-m", "late")
      const head = yield* made.git("rev-parse", "HEAD")
      const blocked = yield* finishPhase(finish(review, approved), made.place)
      assert.containSubset(blocked, { _tag: "PhaseBlocked", dirty: [], head })
      assert.strictEqual((yield* finishPhase(finish(review), made.place))._tag, "PhaseFinished")
    })
  )

  const forgedReviews = [
    ["a link", link, "is where the review is written, and no plain file"],
    [
      "a committed review that is gone",
      (made: Repository) => made.remove(review),
      "is the review that HEAD has, and is gone: restore it"
    ]
  ] as const
  it.effect.each(forgedReviews)(
    "is blocked, and a commit and claims are refused, by %s in the place of the review",
    ([, put, told]) =>
      Effect.gen(function* () {
        const made = yield* repository
        const base = yield* made.git("rev-parse", "HEAD")
        if (told.endsWith("restore it")) yield* made.write(review, "# Review\n")
        yield* made.write("a.js", "2")
        const work = yield* made.commit("work")
        yield* put(made)
        const rejected = yield* verifyCommit(verify(work, base, review), made.place)
        assert.include(rejected._tag === "CommitRejected" ? rejected.detail : rejected._tag, `${review} (${told}`)
        const claimed = yield* verifyClaims(claims(base, [], { commit: work, reviewPath: review }), made.place)
        assert.include(claimed._tag === "ClaimsRejected" ? claimed.detail : claimed._tag, told)
        const blocked = yield* finishPhase(finish(review, work), made.place)
        assert.include(blocked._tag === "PhaseBlocked" ? blocked.dirty.join() : blocked._tag, told)
        assert.strictEqual(yield* made.git("rev-parse", "HEAD"), work)
      })
  )

  it.effect("refuses a commit that has a link in the place of the review", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const base = yield* made.git("rev-parse", "HEAD")
      yield* link(made)
      const work = yield* made.commit("work")
      const rejected = yield* verifyCommit(verify(work, base, review), made.place)
      assert.include(rejected._tag === "CommitRejected" ? rejected.detail : rejected._tag, "no plain file in HEAD")
      assert.strictEqual((yield* finishPhase(finish(review, work), made.place))._tag, "PhaseBlocked")
    })
  )

  it.effect("accepts a review file that is written on after it was committed", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const base = yield* made.git("rev-parse", "HEAD")
      yield* made.write(review, "# Review\n")
      const work = yield* made.commit("work")
      yield* made.write(review, "# Review\n\nAddendum\n")
      assert.strictEqual((yield* verifyCommit(verify(work, base, review), made.place))._tag, "CommitVerified")
      assert.strictEqual((yield* finishPhase(finish(review, work), made.place))._tag, "PhaseFinished")
    })
  )

  const otherHistories = [
    ["a merge that drops the other side", ["HEAD", "main"]],
    ["an empty commit", ["HEAD"]],
    ["the same files on another parent", ["main"]]
  ] as const
  it.effect.each(otherHistories)("is blocked where the approved files have another history: %s", ([, parents]) =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.git("checkout", "--quiet", "-b", "work")
      yield* made.write("a.js", "2")
      const approved = yield* made.commit("work")
      yield* made.git("checkout", "--quiet", "main")
      yield* made.write("pay.js", "mended")
      yield* made.commit("mend a hole")
      yield* made.git("checkout", "--quiet", "work")
      const on = parents.flatMap((parent) => ["-p", parent])
      const head = yield* made.git("commit-tree", ...on, "-m", "Reviewed-by: Ada", "HEAD^{tree}")
      yield* made.git("update-ref", "HEAD", head)
      yield* made.write(review, "# Review\n")
      const blocked = yield* finishPhase(finish(review, approved), made.place)
      assert.containSubset(blocked, { _tag: "PhaseBlocked", dirty: [], head })
      assert.strictEqual(yield* made.git("rev-parse", "HEAD"), head)
    })
  )

  it.effect("leaves files staged that were staged before the run, and commits a review file with an odd name", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const odd = "docs/re views/*[1].md"
      yield* made.write("mine.txt", "x")
      yield* made.git("add", "mine.txt")
      yield* made.write(odd, "# Review\n")
      const finished = yield* finishPhase(finish(`./${odd}`), { ...made.place, tolerated: ["mine.txt"] })
      assert.strictEqual(finished._tag, "PhaseFinished")
      assert.strictEqual(yield* made.git("show", "--name-only", "--format=", "HEAD"), odd)
      assert.strictEqual(yield* made.git("status", "--porcelain"), "A  mine.txt")
    })
  )

  it.effect("commits even if hooks refuse, signing is configured and no user is", () =>
    Effect.gen(function* () {
      const made = yield* repository
      yield* made.hook("pre-commit", "exit 1")
      yield* made.git("config", "core.hooksPath", `${made.root}/.git/hooks`)
      yield* made.git("config", "commit.gpgSign", "true")
      yield* made.write(review, "# Review\n")
      const finished = yield* finishPhase(finish(), made.place)
      assert.containSubset(finished, { _tag: "PhaseFinished", commit: yield* made.git("rev-parse", "HEAD") })
    })
  )

  for (const path of ["../outside.md", "/etc/passwd", ".git/config", "docs/../../x.md"]) {
    it.effect(`refuses the review path ${path}`, () =>
      Effect.gen(function* () {
        const made = yield* repository
        const error = yield* Effect.flip(finishPhase(finish(path), made.place))
        assert.strictEqual(error._tag, "OutsideWorkspace")
      })
    )
  }

  it.effect("refuses one of git's own files as the plan", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const error = yield* Effect.flip(finishPhase({ ...finish(), planPath: ".git/config" }, made.place))
      assert.strictEqual(error._tag, "OutsideWorkspace")
    })
  )
})
