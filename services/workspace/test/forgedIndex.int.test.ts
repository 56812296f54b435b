/**
 * What git keeps in an index besides its entries, and believes: a command can have the index say that a folder is a tree that no
 * commit has, and `git status` shows nothing.
 */
import { copyFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { claims, finish, gates } from "./support/commands.ts"
import { exchange, type Scene, scene } from "./support/hostileAuthor.ts"
import { done, prepared, services } from "./support/preparing.ts"

const review = "docs/reviews/plan-phase-1-review.md"

/** A commit, and after it an index in which the folder `src` is another tree. */
const forged = Effect.gen(function* () {
  const at = yield* scene
  at.put("src/a.mjs", "evil\n")
  at.git("add", "src")
  const evil = at.git("write-tree", "--prefix=src/")
  at.git("reset", "--quiet", "--hard")
  const commit = at.work()
  at.git("update-index", "--refresh", "-q")
  const index = join(at.root, ".git/index")
  const honest = at.git("rev-parse", "HEAD:src")
  exchange(index, honest, evil)
  assert.strictEqual(at.git("status", "--porcelain"), "", "git sees nothing")
  copyFileSync(index, join(at.root, ".git/forged"))
  return { ...at, commit, evil, honest }
})

/** What the next `git commit` takes for the folder. */
const believed = ({ git }: Pick<Scene, "git">) => git("write-tree", "--prefix=src/")

/** As code of the author's that a gate runs. */
const forge = "cp .git/forged .git/index"

layer(services, { excludeTestServices: true })("an index that says something else than its entries", (it) => {
  it.effect("says it no more when a commit was verified, or claims", () =>
    Effect.gen(function* () {
      const one = yield* forged
      assert.strictEqual(believed(one), one.evil)
      assert.strictEqual(yield* one.detailOf(one.commit), "verified")
      assert.strictEqual(believed(one), one.honest)
      const other = yield* forged
      yield* verifyClaims(claims(other.base, [], { commit: other.commit }), other.place)
      assert.strictEqual(believed(other), other.honest)
    })
  )

  it.effect("says it no more to a gate or a reviewer after a gate that forged it", () =>
    Effect.gen(function* () {
      const at = yield* forged
      const sees = `echo "$(git write-tree --prefix=src/)"`
      const ran = yield* qualityGates(gates([forge, sees, forge]), at.place)
      assert.containSubset(ran, { _tag: "QualityPassed", results: [{}, { head: `${at.honest}\n` }, {}] })
      assert.strictEqual(believed(at), at.honest)
    })
  )

  it.effect("is not committed with the review, nor says it to the user afterwards", () =>
    Effect.gen(function* () {
      const at = yield* forged
      at.put(review, "# Review\n")
      const finished = yield* finishPhase(finish(review, at.commit), at.place)
      assert.containSubset(finished, { _tag: "PhaseFinished" })
      assert.strictEqual(at.git("diff", "--name-only", at.commit, "HEAD"), review)
      assert.strictEqual(at.git("status", "--porcelain"), "")
      at.git("commit", "--quiet", "--allow-empty", "-m", "of the user")
      assert.strictEqual(at.git("rev-parse", "HEAD:src"), at.honest)
    })
  )

  it.effect("says it no more when the run has ended, whatever came of it", () =>
    Effect.gen(function* () {
      const at = yield* forged
      yield* done((yield* prepared(at.root)).place, "failed")
      assert.strictEqual(believed(at), at.honest)
    })
  )

  it.effect("says it no more in the user's own tree when a run in a worktree has ended", () =>
    Effect.gen(function* () {
      const at = yield* forged
      const { place } = yield* prepared(at.root, { worktree: true })
      assert.strictEqual(believed(at), at.evil)
      yield* done(place)
      assert.strictEqual(believed(at), at.honest)
    })
  )

  it.effect("is written again where a gate left a lock of git", () =>
    Effect.gen(function* () {
      const at = yield* forged
      const ran = yield* qualityGates(
        gates([`${forge}; touch -d 2001-01-01 .git/index.lock`, "git update-index --refresh"]),
        at.place
      )
      assert.containSubset(ran, { _tag: "QualityPassed" })
    })
  )

  it.effect("that git cannot read is why the next gate does not start", () =>
    Effect.gen(function* () {
      const at = yield* forged
      const ran = yield* qualityGates(gates(["echo x > .git/index", "true"]), at.place)
      if (ran._tag !== "QualityFailed") return assert.fail(ran._tag)
      assert.deepStrictEqual(
        ran.results.map(({ exitCode }) => exitCode),
        [0, null]
      )
      assert.match(ran.results[1]?.head ?? "", /^The command could not start: git ls-files failed .*index file/)
    })
  )

  it.effect("has an author's own commit start its hooks as before", () =>
    Effect.gen(function* () {
      const at = yield* forged
      yield* at.hook("pre-commit", "git diff --cached --name-only > .git/seen")
      assert.strictEqual(yield* at.detailOf(at.commit), "verified")
      at.put("src/a.mjs", "export const a = 2\n")
      at.git("add", "src")
      at.git("commit", "--quiet", "-m", "more")
      assert.strictEqual(at.git("show", "--name-only", "--format=", "HEAD"), "src/a.mjs")
      assert.strictEqual(readFileSync(join(at.root, ".git/seen"), "utf8"), "src/a.mjs\n")
    })
  )
})
