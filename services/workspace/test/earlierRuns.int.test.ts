/** What an author moved or flagged in a run that ended without a verification is not what the next run begins with. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { verify } from "./support/commands.ts"
import { scene } from "./support/hostileAuthor.ts"
import { done, prepared, r2, services } from "./support/preparing.ts"

const originMain = "refs/remotes/origin/main"

/** A repository in which a run has begun, with a remote branch, a tag and two commits by somebody else. */
const begun = Effect.gen(function* () {
  const at = yield* scene
  at.git("update-ref", originMain, at.base)
  at.git("tag", "v1")
  const { place } = yield* prepared(at.root)
  const ofOthers = (message: string) => at.git("commit-tree", "-p", at.base, "-m", message, `${at.base}^{tree}`)
  return { ...at, first: place, ofOthers: [ofOthers("one"), ofOthers("two")] as const }
})

layer(services, { excludeTestServices: true })("names that a run compares with", (it) => {
  it.effect.each([{ worktree: false }, { worktree: true }])(
    "are those from before an aborted run whose author moved them to its work: $worktree",
    ({ worktree }) =>
      Effect.gen(function* () {
        const at = yield* begun
        const evil = at.work()
        at.git("reset", "--quiet", "--hard", at.base)
        at.git("update-ref", originMain, evil)
        at.git("update-ref", "refs/tags/v1", evil)
        yield* done(at.first, "failed")
        const { place } = yield* prepared(at.root, { runId: r2, worktree })
        at.git("-C", place.directory, "merge", "--quiet", "--ff-only", evil)
        const event = yield* verifyCommit(verify(evil, at.base), place)
        assert.match(event._tag === "CommitRejected" ? event.detail : event._tag, /: v1 was [0-9a-f]{12} and is /)
        assert.strictEqual(at.git("rev-parse", "origin/main"), at.base)
      })
  )

  it.effect("are told once for all runs where they stay as a run left them", () =>
    Effect.gen(function* () {
      const at = yield* begun
      at.git("update-ref", originMain, at.ofOthers[0])
      yield* done(at.first, "failed")
      const notes: Array<number> = []
      let base = at.base
      for (const text of ["one", "two"]) {
        const { place } = yield* prepared(at.root, { runId: r2 })
        at.put("a.txt", text)
        const commit = at.commit()
        const event = yield* verifyCommit(verify(commit, base), place)
        notes.push(event._tag === "CommitVerified" ? (event.notes ?? []).length : Number.NaN)
        yield* done(place, "completed", r2)
        base = commit
      }
      assert.deepStrictEqual(notes, [1, 0])
    })
  )

  it.effect("are those of a fetch that came after an earlier run", () =>
    Effect.gen(function* () {
      const at = yield* begun
      at.git("update-ref", originMain, at.ofOthers[0])
      yield* done(at.first, "failed")
      at.git("update-ref", originMain, at.ofOthers[1])
      const { place } = yield* prepared(at.root, { runId: r2 })
      const event = yield* verifyCommit(verify(at.work(), at.base), place)
      assert.deepStrictEqual(event._tag === "CommitVerified" ? event.notes : event._tag, undefined)
    })
  )
})

layer(services, { excludeTestServices: true })("flags of files in the index", (it) => {
  it.effect("are as before the run when it has ended", () =>
    Effect.gen(function* () {
      const at = yield* scene
      at.put("local.txt", "mine")
      at.put('"b\n.txt', "mine")
      at.commit()
      at.git("update-index", "--skip-worktree", "local.txt")
      const { place } = yield* prepared(at.root)
      at.git("update-index", "--skip-worktree", "tools/check.mjs")
      at.git("update-index", "--assume-unchanged", "tools/check.mjs", '"b\n.txt')
      yield* done(place, "failed")
      const flagged = at.git("ls-files", "-v", "-z").split("\0")
      assert.deepStrictEqual(
        flagged.filter((line) => !line.startsWith("H ") && line !== ""),
        ["S local.txt"]
      )
    })
  )

  it.effect("stay where no run began in the tree", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const { place } = yield* prepared(at.root, { worktree: true })
      at.git("update-index", "--skip-worktree", "tools/check.mjs")
      yield* done(place, "failed")
      assert.include(at.git("ls-files", "-v"), "S tools/check.mjs")
    })
  )
})
