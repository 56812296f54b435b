/**
 * A quality gate that compares with a branch reads that branch's commit, the one at which the work parted from it, and the folders
 * of both. Each lies in git's store, where a command of the author can put another content under its name.
 */
import { execFileSync } from "node:child_process"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { claims, verify } from "./support/commands.ts"
import { forged, putObject, type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

/** The branch has a commit of its own, and the work another one below the base: they parted two commits before the work. */
const parted = Effect.gen(function* () {
  const at = yield* scene
  const bottom = at.git("rev-parse", "HEAD")
  at.put("lib/upstream.mjs", "2\n")
  const upstream = at.commit("upstream")
  at.git("update-ref", "refs/remotes/origin/main", upstream)
  at.git("tag", "--annotate", "-m", "tagged", "v1", upstream)
  at.git("reset", "--quiet", "--hard", bottom)
  at.put("lib/earlier.mjs", "1\n")
  const base = at.commit("earlier phase")
  yield* requireClean({ directory: at.root, root: at.root }, false)
  const detailOf = (reported: string) =>
    Effect.map(verifyCommit(verify(reported, base), at.place), (event) =>
      event._tag === "CommitRejected" ? `${event.reason}: ${event.detail}` : "verified"
    )
  return { ...at, base, bottom, upstream, detailOf }
})
type Parted = Effect.Success<typeof parted>

const textOf = ({ root }: Pick<Scene, "root">, kind: string, name: string) =>
  execFileSync("git", ["cat-file", kind, name], { cwd: root })

const falsifyTree = (at: Scene, name: string, like: string) =>
  putObject(at, at.git("rev-parse", name), "tree", textOf(at, "tree", like))

const attacks: ReadonlyArray<{ readonly name: string; readonly falsify: (at: Parted, done: string) => void }> = [
  {
    name: "the files of the branch",
    falsify: (at, done) => falsifyTree(at, `${at.upstream}^{tree}`, `${done}^{tree}`)
  },
  {
    name: "the files where the work parted from it",
    falsify: (at, done) => falsifyTree(at, `${at.bottom}^{tree}`, `${done}^{tree}`)
  },
  { name: "a folder of the branch", falsify: (at, done) => falsifyTree(at, `${at.upstream}:lib`, `${done}:lib`) },
  {
    name: "a file of the branch",
    falsify: (at) => putObject(at, at.git("rev-parse", `${at.upstream}:lib/upstream.mjs`), "blob", Buffer.from(forged))
  },
  {
    name: "the commit of the branch",
    falsify: (at, done) => putObject(at, at.upstream, "commit", textOf(at, "commit", done))
  },
  {
    name: "a commit to which the branch was moved",
    falsify: (at, done) => {
      at.git("checkout", "--quiet", "-b", "other", at.upstream)
      at.put("lib/more.mjs", forged)
      const next = at.commit("fetched")
      at.git("checkout", "--quiet", "main")
      at.git("branch", "--quiet", "-D", "other")
      at.git("update-ref", "refs/remotes/origin/main", next)
      falsifyTree(at, `${next}^{tree}`, `${done}^{tree}`)
    }
  }
]

layer(adapters, { excludeTestServices: true })("what a gate compares the work with", (it) => {
  it.effect.each(attacks)("is refused if git's store has another content under its name: $name", ({ falsify }) =>
    Effect.gen(function* () {
      const at = yield* parted
      at.git("branch", "--quiet", "--move", "main")
      yield* requireClean({ directory: at.root, root: at.root }, false)
      const done = at.work()
      falsify(at, done)
      assert.match(
        yield* at.detailOf(done),
        /^dirty-tree: Quality gates that compare with a branch or a tag .*: git's object [0-9a-f]{40} does not hold/
      )
      const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
      assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "dirty-tree" })
    })
  )

  it.effect("is accepted as it is, with a tag of a file and branches of other histories", () =>
    Effect.gen(function* () {
      const at = yield* parted
      at.git("tag", "file", at.git("rev-parse", "HEAD:tools/check.mjs"))
      at.git("update-ref", "refs/heads/alone", at.git("commit-tree", "-m", "alone", "HEAD^{tree}"))
      yield* requireClean({ directory: at.root, root: at.root }, false)
      assert.strictEqual(yield* at.detailOf(at.work()), "verified")
    })
  )
})
