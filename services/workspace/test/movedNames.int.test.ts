/**
 * A quality gate may compare the work with a branch or a tag, as `git diff origin/main...` does. What such a name stands for is in
 * git's folder, where a command of the author can write.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { claims, verify } from "./support/commands.ts"
import { type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

const originMain = "refs/remotes/origin/main"

/** A repository with a remote branch, a tag and another branch, all on the commit before the work. */
const named = Effect.gen(function* () {
  const at = yield* scene
  at.git("update-ref", "refs/remotes/origin/main", at.base)
  at.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
  at.git("tag", "v1")
  at.git("tag", "--annotate", "-m", "two", "v2")
  at.git("branch", "topic")
  yield* requireClean({ directory: at.root, root: at.root }, false)
  return at
})

const attacks: ReadonlyArray<{
  readonly name: string
  readonly move: (at: Scene, done: string) => void
  readonly told: RegExp
}> = [
  ...["refs/tags/v1", "refs/heads/topic"].map((ref) => ({
    name: `${ref} at the work`,
    move: (at: Scene, done: string) => void at.git("update-ref", ref, done),
    told: new RegExp(`(v1|topic) was [0-9a-f]{12} and is [0-9a-f]{12}.*Put it back: 'git update-ref --no-deref ${ref} `)
  })),
  {
    name: "the branch that a remote's HEAD names",
    move: (at) => void at.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/main"),
    told: /origin\/HEAD was/
  },
  {
    name: "an annotated tag at the work",
    move: (at) => void at.git("tag", "--force", "--annotate", "-m", "two", "v2"),
    told: /v2 was/
  },
  {
    name: "a tag that has the name of a remote's branch",
    move: (at, done) => void at.git("update-ref", "refs/tags/origin/main", done),
    told: /origin\/main was .*Remove what else is called origin\/main/
  },
  {
    name: "a branch that has the name of a remote's, which is gone",
    move: (at, done) => {
      at.git("update-ref", "-d", "refs/remotes/origin/main")
      at.git("update-ref", "refs/heads/origin/main", done)
    },
    told: /Remove what else is called/
  },
  {
    name: "a file in git's folder that has the name of a branch",
    move: (at, done) => writeFileSync(join(at.root, ".git/topic"), `${done}\n`),
    told: /Remove what else is called topic/
  }
]

layer(adapters, { excludeTestServices: true })("names that gates compare with", (it) => {
  it.effect.each(attacks)("are not moved so that the work is not seen: $name", ({ move, told }) =>
    Effect.gen(function* () {
      const at = yield* named
      at.work()
      at.put("src/b.mjs", "export const b = 1\n")
      const done = at.commit()
      assert.strictEqual(yield* at.detailOf(done), "verified")
      move(at, done)
      const detail = yield* at.detailOf(done)
      assert.match(detail, /^dirty-tree: Quality gates that compare with a branch or a tag would not see this work: /)
      assert.match(detail, told)
      const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
      assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "dirty-tree" })
    })
  )

  it.effect.each<{ readonly name: string; readonly move: (at: Scene, done: string) => void }>([
    { name: "at the work", move: (at, done) => void at.git("update-ref", originMain, done) },
    { name: "at a part of the work", move: (at) => void at.git("update-ref", originMain, "HEAD^") },
    {
      name: "at what the work has merged, as after a fetch",
      move: (at) => {
        at.git("update-ref", originMain, at.git("commit-tree", "-p", at.base, "-m", "foreign", `${at.base}^{tree}`))
        at.git("merge", "--quiet", "--no-ff", "-m", "merge", "origin/main")
      }
    },
    {
      name: "at work of the author that it has merged itself",
      move: (at, done) => {
        at.git("reset", "--quiet", "--hard", at.base)
        at.git("merge", "--quiet", "--no-ff", "-m", "merge", done)
        at.git("update-ref", originMain, done)
      }
    },
    {
      name: "as a link to the branch of the work",
      move: (at) => void at.git("symbolic-ref", originMain, "refs/heads/main")
    }
  ])("of a remote are taken back, and a person is told: $name", ({ move }) =>
    Effect.gen(function* () {
      const at = yield* named
      at.work()
      at.put("src/b.mjs", "export const b = 1\n")
      move(at, at.commit())
      const done = at.git("rev-parse", "HEAD")
      const event = yield* verifyCommit(verify(done, at.base), at.place)
      const notes = event._tag === "CommitVerified" ? event.notes : [event._tag]
      assert.strictEqual(notes?.length, 1)
      assert.match(notes?.[0] ?? "", /^Remote branches stood for this work .*: origin\/main was [0-9a-f]{12} and is /)
      assert.strictEqual(at.git("rev-parse", "origin/main"), at.base)
      assert.strictEqual(at.git("symbolic-ref", "refs/remotes/origin/HEAD"), originMain)
      assert.include(at.git("diff", "--name-only", "origin/main...HEAD"), "src/a.mjs")
      at.git("update-ref", originMain, done)
      const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
      assert.strictEqual(claimed._tag, "ClaimsVerified")
      assert.strictEqual(at.git("rev-parse", "origin/main"), at.base)
    })
  )

  it.effect("are told once where they moved elsewhere, as by a fetch", () =>
    Effect.gen(function* () {
      const at = yield* named
      const elsewhere = at.git("commit-tree", "-p", at.base, "-m", "foreign", `${at.base}^{tree}`)
      const done = at.work()
      at.git("update-ref", "refs/remotes/origin/main", elsewhere)
      const first = yield* verifyCommit(verify(done, at.base), at.place)
      const [note = ""] = first._tag === "CommitVerified" ? (first.notes ?? []) : [first._tag]
      assert.match(
        note,
        /^Branches or tags moved while an author worked, in this run or an earlier one, by a fetch.*origin\/main was/
      )
      assert.include(note, elsewhere.slice(0, 12))
      const again = yield* verifyCommit(verify(done, at.base), at.place)
      assert.deepStrictEqual(again._tag === "CommitVerified" ? again.notes : again._tag, undefined)
    })
  )

  it.effect("are told, and not refused, where the work has merged a branch on which somebody committed", () =>
    Effect.gen(function* () {
      const at = yield* named
      const committed = at.git("commit-tree", "-p", at.base, "-m", "foreign", `${at.base}^{tree}`)
      at.work()
      at.git("update-ref", "refs/heads/topic", committed)
      at.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
      const event = yield* verifyCommit(verify(at.git("rev-parse", "HEAD"), at.base), at.place)
      assert.strictEqual(event._tag === "CommitVerified" ? event.notes?.length : event._tag, 1)
      assert.strictEqual(at.git("rev-parse", "topic"), committed)
    })
  )

  it.effect("stay known after a note, however many others came meanwhile", () =>
    Effect.gen(function* () {
      const at = yield* named
      const elsewhere = at.git("commit-tree", "-p", at.base, "-m", "foreign", `${at.base}^{tree}`)
      const one = at.work()
      at.git("update-ref", "refs/tags/v1", elsewhere)
      const created = Array.from({ length: 5_000 }, (_, n) => `${at.base} refs/heads/a/${String(n).padStart(4, "0")}\n`)
      writeFileSync(join(at.root, ".git/packed-refs"), created.join(""))
      const first = yield* verifyCommit(verify(one, at.base), at.place)
      assert.strictEqual(first._tag === "CommitVerified" ? first.notes?.length : first._tag, 1)
      at.put("src/b.mjs", "export const b = 1\n")
      const two = at.commit()
      at.git("update-ref", originMain, two)
      at.git("update-ref", "refs/tags/v2", two)
      const second = yield* verifyCommit(verify(two, one), at.place)
      assert.match(second._tag === "CommitRejected" ? second.detail : second._tag, /: v2 was /)
      assert.strictEqual(at.git("rev-parse", "origin/main"), at.base)
    })
  )

  it.effect("count before tags where there are too many, those of remotes first", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const created = Array.from({ length: 5_000 }, (_, n) => `${at.base} refs/heads/a/${String(n).padStart(4, "0")}\n`)
      writeFileSync(join(at.root, ".git/packed-refs"), [...created, `${at.base} ${originMain}\n`].join(""))
      yield* requireClean({ directory: at.root, root: at.root }, false)
      const done = at.work()
      at.git("update-ref", originMain, done)
      assert.strictEqual(yield* at.detailOf(done), "verified")
      assert.strictEqual(at.git("rev-parse", "origin/main"), at.base)
    })
  )

  it.effect("may be new, and those of runs may move", () =>
    Effect.gen(function* () {
      const at = yield* scene
      at.git("branch", "reprise/other")
      at.git("update-ref", "refs/remotes/origin/reprise/plan", at.base)
      yield* requireClean({ directory: at.root, root: at.root }, false)
      const done = at.work()
      at.git("tag", "v3")
      at.git("branch", "backup")
      at.git("branch", "--force", "reprise/other")
      at.git("update-ref", "refs/remotes/origin/reprise/plan", done)
      const event = yield* verifyCommit(verify(done, at.base), at.place)
      assert.deepStrictEqual(event._tag === "CommitVerified" ? event.notes : event._tag, undefined)
    })
  )
})
